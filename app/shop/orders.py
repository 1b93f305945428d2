"""Orders: what was bought, by whom, at which price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final, Literal, Protocol

from app.shop.catalog import Sku
from app.shop.paging import Page

OrderStatus = Literal["placed"]

VIETNAM: Final = timezone(timedelta(hours=7), "ICT")
"""Vietnam's time; it has had no summer time since 1975."""


def order_number(placed_at: datetime, sequence: int) -> str:
    """The number for people: the day in Vietnam, then the order's place in the shop's books."""
    return f"{placed_at.astimezone(VIETNAM):%y%m%d}-{sequence:06d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipping:
    """Where the parcel goes."""

    name: str
    phone: str
    address: str


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
class Order:
    """An order as kept; `number` is for people, `id` for machines."""

    id: str
    number: str
    cart_id: str
    account_id: str
    status: OrderStatus
    payment: str
    shipping: Shipping
    lines: Sequence[OrderLine]
    total: int
    placed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """What a shopper sends when they buy: the cart they saw, its total, and their idempotency key.

    `fingerprint` is a digest of the request as the client sent it: the same key with another
    fingerprint is another request, and is refused.
    """

    account_id: str
    cart_id: str
    quantities: Mapping[Sku, int]
    expected_total: int
    shipping: Shipping
    payment: str
    key: str
    fingerprint: str


class Orders(Protocol):
    """The store of orders. Raises `Unavailable`: nothing happened, or the same key tells what did."""

    async def replay(self, account_id: str, key: str, fingerprint: str) -> Order | None:
        """The order this key made before, or None.

        Raises `KeyInProgress` while another request works on it, `KeyReused` when it came with
        another fingerprint.
        """

    async def place(self, request: OrderRequest) -> Order:
        """Take the stock and keep the order, its key and its cart id in one transaction, or do nothing.

        Raises `KeyInProgress`, `KeyReused`, `CartOrdered`, `OutOfStock`, `TotalChanged`. Of a SKU that
        is not sold any more, 0 are left. A key that made an order before returns that order.
        """

    async def by_id(self, account_id: str, order_id: str) -> Order | None:
        """This account's order, or None; also for a foreign one."""

    async def by_cart(self, account_id: str, cart_id: str) -> Order | None:
        """The order that this account's cart became, or None."""

    async def page(self, account_id: str, *, page: int, page_size: int) -> Page[Order]:
        """This account's orders, newest first; raises `Invalid` for a page that no list has."""
