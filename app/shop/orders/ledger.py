"""The shop's own book of payments: what it knows of each, and what it wants to become of it.

The acquirer knows what happened to the money. This book knows what shall happen: `wanted` is written in the
transaction that decides it, so a crash anywhere leaves a row that any replica can bring to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, Protocol

from app.shop.orders.statuses import OrderStatus

LedgerStatus = Literal[
    "asked", "requires_action", "authorised", "declined", "captured", "released", "refunded"
]
"""What is known: `asked` is not to know yet, `released` that nothing is held and nothing will be."""

Wanted = Literal["held", "taken", "back"]
"""What shall become of the money: held for the order, taken for it, or back with its owner."""


WISHES: Final[Mapping[OrderStatus, Wanted]] = {
    "shipped": "taken",
    "cancelled": "back",
    "refunded": "back",
    "failed": "back",
}
"""What a status means for the money of a card; the others leave it where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """What is written into the book; None leaves a column as it is.

    `look_in` is when the next look at it is due: never, where nothing is left to do.
    """

    status: LedgerStatus | None = None
    wanted: Wanted | None = None
    payment_id: str | None = None
    redirect_url: str | None = None
    declined_as: str | None = None
    look_in: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPayment:
    """A payment that is not where the shop wants it. `is_late`: its reservation has ended."""

    order_id: str
    reference: str
    status: LedgerStatus
    wanted: Wanted
    amount: int
    payment_id: str | None
    order_status: OrderStatus
    is_late: bool
    attempts: int


class Ledger(Protocol):
    """The store of the book. Raises `Unavailable`."""

    async def due(self, *, most: int) -> Sequence[OpenPayment]:
        """Payments whose look is due, each for one caller alone; the next look at them comes later."""

    async def open_of(self, order_id: str) -> OpenPayment | None:
        """The payment of this order, or None where it has none or nothing is left to do."""

    async def book(self, payment: OpenPayment, booking: Booking) -> None:
        """Write it down, unless the shop has come to want something else meanwhile."""
