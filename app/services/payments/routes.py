"""The acquirer's JSON API, for merchants with an internal token."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import JSONResponse, Response

from app.services.callers import required_program
from app.services.payments.acquirer import REDIRECT, TOKENS, Acquirer, Ask
from app.services.payments.requests import Answer
from app.services.payments.requests import Request as Keyed
from app.services.problems import Problem
from app.shop.money import MOST

router: Final = APIRouter(prefix="/v1")

Amount = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Reference = Annotated[str, Field(pattern=r"^[!-~]{1,100}$")]
PaymentId = Annotated[str, Path(pattern=r"^pay_[0-9a-f]{32}$")]
Key = Annotated[str, Header(alias="Idempotency-Key", pattern=r"^[!-~]{1,200}$")]
Merchant = Annotated[str, Depends(required_program)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Authorise(_Body):
    """Hold `amount`, in whole minor units; đồng have no smaller one."""

    merchant_reference: Reference
    amount: Amount
    currency: Literal["VND"]
    token: str = Field(max_length=100)
    return_url: str | None = Field(None, pattern=r"^https?://[!-~]{1,500}$")

    @model_validator(mode="after")
    def _known(self) -> Authorise:
        if self.token not in TOKENS:
            raise ValueError("token is not one of the sandbox")
        if self.token == REDIRECT and self.return_url is None:
            raise ValueError("return_url is needed by this token")
        return self


class Part(_Body):
    """All of it, or `amount`."""

    amount: Amount | None = None


class Nothing(_Body):
    """No more is needed."""


class Close(_Body):
    """The reference to give up."""

    merchant_reference: Reference


def acquirer_of(request: Request) -> Acquirer:
    """The one of this application."""
    acquirer: Acquirer = request.app.state.acquirer
    return acquirer


Bank = Annotated[Acquirer, Depends(acquirer_of)]


@router.post("/payments")
async def authorise(bank: Bank, merchant: Merchant, key: Key, body: Authorise) -> Response:
    """A payment, whatever became of it: authorised, declined, or waiting for the cardholder."""
    ask = Ask(
        reference=body.merchant_reference,
        amount=body.amount,
        currency=body.currency,
        token=body.token,
        return_url=body.return_url,
    )
    return _told(await bank.authorise(_keyed(merchant, key, "authorise", body, ask.reference), ask))


@router.post("/payments/{payment_id}/capture")
async def capture(bank: Bank, merchant: Merchant, key: Key, payment_id: PaymentId, body: Part) -> Response:
    """Take what is held, once."""
    keyed = _keyed(merchant, key, f"capture {payment_id}", body)
    return _told(await bank.capture(keyed, payment_id, body.amount))


@router.post("/payments/{payment_id}/void")
async def void(bank: Bank, merchant: Merchant, key: Key, payment_id: PaymentId, body: Nothing) -> Response:
    """Let go of what is held."""
    return _told(await bank.void(_keyed(merchant, key, f"void {payment_id}", body), payment_id))


@router.post("/payments/{payment_id}/refund")
async def refund(bank: Bank, merchant: Merchant, key: Key, payment_id: PaymentId, body: Part) -> Response:
    """Give money back."""
    keyed = _keyed(merchant, key, f"refund {payment_id}", body)
    return _told(await bank.refund(keyed, payment_id, body.amount))


@router.post("/closures")
async def close(bank: Bank, merchant: Merchant, body: Close) -> Mapping[str, Any]:
    """Give a reference up; doing it again changes nothing, so it needs no key."""
    return await bank.close(merchant, body.merchant_reference)


@router.get("/payments")
async def find(
    bank: Bank, merchant: Merchant, merchant_reference: Annotated[Reference, Query()]
) -> Mapping[str, Any]:
    """What happened to a reference, for whoever lost the answer."""
    return await bank.find(merchant, merchant_reference)


@router.get("/payments/{payment_id}")
async def show(bank: Bank, merchant: Merchant, payment_id: PaymentId) -> Mapping[str, Any]:
    """One payment as it is now."""
    return await bank.show(merchant, payment_id)


@router.get("/ledger")
async def balances(bank: Bank, _: Merchant) -> Mapping[str, object]:
    """The ledger's accounts; they sum to zero."""
    return await bank.balances()


def _keyed(merchant: str, key: str, what: str, body: _Body, reference: str | None = None) -> Keyed:
    digest = hashlib.sha256(f"{what} {body.model_dump_json()}".encode()).hexdigest()
    return Keyed(merchant=merchant, key=key, fingerprint=digest, reference=reference)


def _told(answer: Answer) -> Response:
    if answer.status < 400:
        return JSONResponse(dict(answer.body), answer.status)
    return Problem(answer.status, answer.body["code"], answer.body["detail"])
