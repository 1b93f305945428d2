"""An order: what was bought, by whom, at which price, and what happened to it since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final, Literal

from app.shop.catalog import Sku
from app.shop.orders.ledger import LedgerStatus
from app.shop.orders.statuses import CUSTOMER_CANCELS, RESERVES_STOCK, OrderStatus

VIETNAM: Final = timezone(timedelta(hours=7), "ICT")
"""Asia/Ho_Chi_Minh; it has had no summer time since 1975."""

Means = Literal["cod", "card"]
"""How an order is paid: on delivery, or by a card that the acquirer knows by a token."""

COD: Final = "cod"


def order_number(placed_at: datetime, sequence: int) -> str:
    """The number for people: the day in Vietnam, then the order's place in the shop's books."""
    return f"{placed_at.astimezone(VIETNAM):%y%m%d}-{sequence:06d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipping:
    """Where the parcel goes; without a `province` the receiver pays the carrier."""

    name: str
    phone: str
    address: str
    province: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """One SKU of an order at the price it was sold for, in whole đồng."""

    sku: Sku
    name: str
    quantity: int
    unit_price: int

    @property
    def total(self) -> int:
        """The line in whole đồng."""
        return self.quantity * self.unit_price


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What an order costs, in whole đồng; `vat_included` is a part of the total and not added to it."""

    subtotal: int
    shipping_fee: int = 0
    discount: int = 0
    vat_included: int = 0

    @property
    def total(self) -> int:
        """What is paid."""
        return self.subtotal + self.shipping_fee - self.discount


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order as kept; `number` is for people, `id` for machines.

    `cart_id` is the cart it was, None once it came to nothing and the cart may be ordered again. `redirect_url` is
    where the shopper's bank waits for them while the status is ``awaiting_payment``; `declined_as` is why
    it would not pay; `money` is what the shop's book knows of the payment, None without a card.
    """

    id: str
    number: str
    cart_id: str | None
    account_id: str | None
    guest: str | None = None
    status: OrderStatus
    payment: Means
    shipping: Shipping
    lines: Sequence[OrderLine]
    totals: Totals
    placed_at: datetime
    redirect_url: str | None = None
    declined_as: str | None = None
    money: LedgerStatus | None = None

    @property
    def owner(self) -> str | None:
        """Whose it is: an account's id, or a guest's name."""
        return self.account_id or self.guest

    @property
    def total(self) -> int:
        """What is paid, in whole đồng."""
        return self.totals.total

    @property
    def is_standing(self) -> bool:
        """Whether the cart became this order for good, whatever happened to it since."""
        return self.status not in RESERVES_STOCK | {"failed"}

    @property
    def is_cancellable(self) -> bool:
        """Whether its customer may still cancel it."""
        return self.status in CUSTOMER_CANCELS


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """One step of an order: when, by whom, from where to where, and why."""

    happened_at: datetime
    actor: str
    before: OrderStatus | None
    after: OrderStatus
    note: str
