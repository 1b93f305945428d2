"""A payment as a state machine: frozen states in, the next state and its transfers out; no I/O.

requires_action ──confirm──▶ authorised ──capture──▶ captured ──refund──▶ captured, less
      │                          │
      ├──cancel──▶ declined      └──void──▶ voided
      └──void──▶ voided

Money is whole minor units. It moves between three accounts: the cardholder's, what is held of it, and the
merchant's. A transfer takes from one what it gives to another, so nothing can be out of balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from app.services.payments.errors import Refused


class Status(StrEnum):
    """Where a payment is."""

    REQUIRES_ACTION = "requires_action"
    AUTHORISED = "authorised"
    DECLINED = "declined"
    CAPTURED = "captured"
    VOIDED = "voided"


LIVE: Final = frozenset({Status.REQUIRES_ACTION, Status.AUTHORISED, Status.CAPTURED})
"""A merchant's reference has at most one payment of these."""

CARDHOLDERS: Final = "cardholders"
HELD: Final = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Money from one account to another."""

    source: str
    target: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One payment of one merchant; `captured` and `refunded` are sums so far, in whole minor units."""

    id: str
    merchant: str
    reference: str
    status: Status
    amount: int
    currency: str
    captured: int = 0
    refunded: int = 0
    decline_reason: str | None = None
    return_url: str | None = None
    action_secret: str | None = None
    created_at: datetime

    @property
    def merchant_account(self) -> str:
        """The ledger's name for the merchant's money."""
        return f"merchant:{self.merchant}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A payment after something happened to it: its new state, the transfers, the name of the event."""

    payment: Payment
    transfers: Sequence[Transfer]
    event: str


def authorised(payment: Payment) -> Move:
    """Hold the whole amount."""
    return Move(
        payment=replace(payment, status=Status.AUTHORISED),
        transfers=[Transfer(source=CARDHOLDERS, target=HELD, amount=payment.amount)],
        event="payment.authorised",
    )


def declined(payment: Payment, reason: str) -> Move:
    """The bank said no; no money moves."""
    return Move(
        payment=replace(payment, status=Status.DECLINED, decline_reason=reason),
        transfers=[],
        event="payment.declined",
    )


def confirm(payment: Payment, *, agreed: bool) -> Move:
    """The cardholder answered on the acquirer's page."""
    _demand(payment, Status.REQUIRES_ACTION)
    return authorised(payment) if agreed else declined(payment, "cancelled_by_cardholder")


def capture(payment: Payment, amount: int | None) -> Move:
    """Take what was held, or a part of it, once; the rest goes back to the cardholder."""
    _demand(payment, Status.AUTHORISED)
    taken = payment.amount if amount is None else amount
    if taken > payment.amount:
        raise Refused("amount_too_large", f"{payment.amount} is authorised, {taken} was asked for")
    transfers = [Transfer(source=HELD, target=payment.merchant_account, amount=taken)]
    if taken < payment.amount:
        transfers.append(Transfer(source=HELD, target=CARDHOLDERS, amount=payment.amount - taken))
    return Move(
        payment=replace(payment, status=Status.CAPTURED, captured=taken),
        transfers=transfers,
        event="payment.captured",
    )


def void(payment: Payment) -> Move:
    """Give back what was held; nothing was taken yet."""
    _demand(payment, Status.AUTHORISED, Status.REQUIRES_ACTION)
    held = payment.amount if payment.status is Status.AUTHORISED else 0
    transfers = [Transfer(source=HELD, target=CARDHOLDERS, amount=held)] if held else []
    return Move(payment=replace(payment, status=Status.VOIDED), transfers=transfers, event="payment.voided")


def refund(payment: Payment, amount: int | None) -> Move:
    """Give back what was taken, or a part of it, as often as something is left."""
    _demand(payment, Status.CAPTURED)
    left = payment.captured - payment.refunded
    given = left if amount is None else amount
    if not 0 < given <= left:
        raise Refused("amount_too_large", f"{left} is left to refund, {given} was asked for")
    return Move(
        payment=replace(payment, refunded=payment.refunded + given),
        transfers=[Transfer(source=payment.merchant_account, target=CARDHOLDERS, amount=given)],
        event="payment.refunded",
    )


def _demand(payment: Payment, *allowed: Status) -> None:
    if payment.status not in allowed:
        raise Refused(f"payment_{payment.status}", f"the payment is {payment.status}")
