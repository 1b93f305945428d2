"""The states of an order, and the only steps between them.

placing ─▶ awaiting_payment ─▶ confirmed ─▶ packed ─▶ shipped ─▶ delivered
An order may skip `awaiting_payment`. It fails from the first two, is cancelled from `awaiting_payment`,
`confirmed` and `packed`, and refunded from `shipped` and `delivered`; from there it goes nowhere.

An order that is being placed, or failed, was never one: no list shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from app.shop.errors import WrongStatus

OrderStatus = Literal[
    "placing",
    "awaiting_payment",
    "confirmed",
    "packed",
    "shipped",
    "delivered",
    "cancelled",
    "refunded",
    "failed",
]

NEXT: Final[Mapping[OrderStatus, frozenset[OrderStatus]]] = {
    "placing": frozenset({"awaiting_payment", "confirmed", "failed"}),
    "awaiting_payment": frozenset({"confirmed", "failed", "cancelled"}),
    "confirmed": frozenset({"packed", "cancelled"}),
    "packed": frozenset({"shipped", "cancelled"}),
    "shipped": frozenset({"delivered", "refunded"}),
    "delivered": frozenset({"refunded"}),
    "cancelled": frozenset(),
    "refunded": frozenset(),
    "failed": frozenset(),
}
"""Every step that exists."""

STATUSES: Final[tuple[OrderStatus, ...]] = get_args(OrderStatus)

UNLISTED: Final[frozenset[OrderStatus]] = frozenset({"placing", "failed"})
"""Tries that are not orders yet, or never became one."""

LISTED: Final[tuple[OrderStatus, ...]] = tuple(status for status in STATUSES if status not in UNLISTED)

CUSTOMER_CANCELS: Final[frozenset[OrderStatus]] = frozenset({"awaiting_payment", "confirmed"})
"""Once somebody packs it, only the shop can stop it."""

HOLDS_STOCK: Final[frozenset[OrderStatus]] = frozenset({"confirmed", "packed"})
"""Its units are off the shelf and still in the house, so whoever cancels puts them back."""

RESERVES_STOCK: Final[frozenset[OrderStatus]] = frozenset({"placing", "awaiting_payment"})
"""Its units are set aside until the reservation ends."""


def check_step(before: OrderStatus, after: OrderStatus) -> None:
    """Raise `WrongStatus` for a step that does not exist."""
    if after not in NEXT[before]:
        raise WrongStatus(before)
