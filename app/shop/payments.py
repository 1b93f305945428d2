"""Payments as the shop needs them, whoever the acquirer is.

ShopError (app.shop.errors)
├── Unavailable          the acquirer could not be asked; nothing happened
├── OutcomeUnknown       it was asked and nobody knows what it did: ask `find`, or `close`
├── PaymentNotAllowed    the payment is in no state for this; nothing changed
├── NotFound             no such payment
└── KeyReused            the same idempotency key came with another request; nothing happened
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from app.shop.errors import ShopError

PaymentStatus = Literal["requires_action", "authorised", "declined", "captured", "voided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One payment at the acquirer, in whole đồng; `captured` and `refunded` are sums so far.

    `redirect_url` is where the shopper's bank waits for them while the status is ``requires_action``.
    """

    id: str
    reference: str
    status: PaymentStatus
    amount: int
    captured: int
    refunded: int
    created_at: datetime
    decline_reason: str | None = None
    redirect_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorisation:
    """Hold `amount` of whoever `token` stands for; `return_url` is where a bank sends the shopper back to.

    A reference is the shop's own name for what is paid, and has at most one payment that holds or took money.
    """

    reference: str
    amount: int
    token: str
    return_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What happened to a reference so far, newest first; `in_progress`: more may come by itself."""

    payments: Sequence[Payment]
    in_progress: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """Whether a reference is given up for good, and the payment that stood for it.

    `closed` is false only when its money was taken already; then `payment` says how much.
    """

    closed: bool
    payment: Payment | None


class OutcomeUnknown(ShopError):
    """The acquirer was asked and the answer got lost; the money may have moved or not.

    The same request with the same key is safe and gets the lost answer; `find` tells what happened to the
    reference; `close` makes sure that nothing is held, and that nothing will be.
    """

    def __init__(self, what: str, *, retry_after_s: int = 1) -> None:
        super().__init__(f"nobody knows yet whether the acquirer did this: {what}")
        self.what = what
        self.retry_after_s = retry_after_s


class PaymentNotAllowed(ShopError):
    """The payment or its reference is in no state for this; nothing changed. `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Payments(Protocol):
    """The acquirer. A key names one request for ever: repeated, it gets the same answer and moves nothing.

    What moves money raises `Unavailable`, `OutcomeUnknown`, `PaymentNotAllowed`, `NotFound`, `KeyReused`;
    what only asks raises `Unavailable`.
    """

    async def authorise(self, wanted: Authorisation, *, key: str) -> Payment:
        """The payment: authorised, declined, or waiting for the shopper at `redirect_url`."""

    async def capture(self, payment_id: str, *, key: str, amount: int | None = None) -> Payment:
        """Take what is held or a part of it, once; the rest is let go."""

    async def void(self, payment_id: str, *, key: str) -> Payment:
        """Let go of what is held."""

    async def refund(self, payment_id: str, *, key: str, amount: int | None = None) -> Payment:
        """Give back what was taken, or a part of it."""

    async def find(self, reference: str) -> Found:
        """What happened to this reference."""

    async def close(self, reference: str) -> Closed:
        """Give the reference up: nothing is held for it and nothing ever will be, whatever is under way.

        Repeating it changes nothing, so it needs no key; only `Unavailable` and `OutcomeUnknown` are raised.
        """
