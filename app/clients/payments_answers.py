"""What an acquirer may answer, and what the shop makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from pydantic import BaseModel, Field, ValidationError

from app.clients.http import Answer, Lost
from app.resilience import Call
from app.shop.errors import Invalid, KeyReused, NotFound, ShopError, Unavailable
from app.shop.money import CURRENCY
from app.shop.payments import OutcomeUnknown, Payment, PaymentNotAllowed, PaymentStatus

T = TypeVar("T", bound=BaseModel)

NAME: Final = "payments"

UNDONE: Final = frozenset({401, 403, 405, 413, 429, 431})
"""Refused at the door: the acquirer did nothing, and a person or time must change that."""

OVERLOADED: Final = 429


class PaymentTold(BaseModel):
    """A payment as the acquirer tells it."""

    id: str = Field(pattern=r"^pay_[0-9a-f]{32}$")
    merchant_reference: str
    status: PaymentStatus
    amount: int = Field(strict=True, gt=0)
    currency: str = Field(pattern=f"^{CURRENCY}$")
    captured: int = Field(strict=True, ge=0)
    refunded: int = Field(strict=True, ge=0)
    created_at: datetime
    decline_reason: str | None = None
    redirect_url: str | None = None

    def payment(self) -> Payment:
        """As the shop knows it."""
        return Payment(
            id=self.id,
            reference=self.merchant_reference,
            status=self.status,
            amount=self.amount,
            captured=self.captured,
            refunded=self.refunded,
            created_at=self.created_at,
            decline_reason=self.decline_reason,
            redirect_url=self.redirect_url,
        )


class FoundTold(BaseModel):
    """What happened to a reference."""

    items: Sequence[PaymentTold]
    in_progress: bool


class ClosedTold(BaseModel):
    """A reference given up, or not."""

    merchant_reference: str
    closed: bool
    payment: PaymentTold | None


class Problem(BaseModel):
    """A refusal."""

    code: str
    detail: str = ""


def read(call: Call, answer: Answer, shape: type[T], ours: Callable[[T], bool]) -> T:
    """What the acquirer tells, or its refusal; `Lost` for whatever cannot be an answer to the question."""
    if answer.status in {200, 201}:
        try:
            told = shape.model_validate_json(answer.body)
        except ValidationError as garbled:
            raise Lost("the answer cannot be read") from garbled
        if not ours(told):
            raise Lost("the answer belongs to another question")
        return told
    if not 400 <= answer.status < 500:
        raise Lost(f"answered {answer.status}")
    refusal = _refusal(answer)
    if answer.status == OVERLOADED:
        call.ignore()
    else:
        call.succeed()
    raise refusal


def _refusal(answer: Answer) -> ShopError:
    """Which refusal a 4xx is; raises `Lost` for one that the acquirer does not explain."""
    if answer.status in UNDONE:
        return Unavailable(NAME)
    try:
        problem = Problem.model_validate_json(answer.body)
    except ValidationError as garbled:
        raise Lost(f"answered {answer.status} without a reason") from garbled
    match problem.code:
        case "key_in_progress":
            return OutcomeUnknown("the same request, which is still in progress")
        case "key_reused":
            return KeyReused(problem.detail)
        case "payment_not_found":
            return NotFound("payment")
        case "invalid":
            return Invalid(NAME, problem.detail)
    return PaymentNotAllowed(problem.code, problem.detail)
