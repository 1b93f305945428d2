"""What the shop needs of the store of orders."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, Protocol

from app.shop.catalog import Sku
from app.shop.desk.audit import Deed
from app.shop.orders.ledger import Booking
from app.shop.orders.order import Means, Order, OrderEvent, Shipping
from app.shop.orders.statuses import OrderStatus
from app.shop.paging import Page

THE_SHOP: Final = "shop"
"""Who acts where nobody asked: the payment's answer, a reservation's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """What a shopper sends when they buy: the cart they saw, its total, and their idempotency key.

    `fingerprint` is a digest of the request as the client sent it: the same key with another
    fingerprint is another request, and is refused. `prices` are those that the shopper saw, if the client
    told them. `reserve_for` is how long the stock of an order that
    is paid by card waits for the payment; `lease` how long nobody else looks after it.
    """

    account_id: str  # or a guest's name, see `app.shop.guests`; then `contact_email` tells whom to write to
    cart_id: str
    quantities: Mapping[Sku, int]
    expected_total: int
    shipping: Shipping
    payment: Means
    voucher: str | None = None
    contact_email: str | None = None
    key: str
    fingerprint: str
    prices: Mapping[Sku, int] = field(default_factory=dict)
    reserve_for: timedelta = timedelta(minutes=2)
    lease: timedelta = timedelta(seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderQuery:
    """Which orders a list shows: days are Vietnam's, both included."""

    page: int = 1
    page_size: int = 20
    status: OrderStatus | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One step of an order: where to, by whom, why, and what it means for the payment.

    `actor` is an account's id, or `THE_SHOP`. `only_from` are the statuses that this actor may take it
    from. `wait_for` is how long the stock stays reserved from now on. A `deed` of the desk takes the step once,
    with its entry in the log.
    """

    to: OrderStatus
    actor: str
    note: str = ""
    only_from: Collection[OrderStatus] | None = None
    booking: Booking | None = None
    wait_for: timedelta | None = None
    deed: Deed | None = None


class Orders(Protocol):
    """The store of orders. Raises `Unavailable`: nothing happened, or the same key tells what did."""

    async def replay(self, account_id: str, key: str, fingerprint: str) -> Order | None:
        """What this key was answered before, or None: its order with the status of then.

        Raises `KeyInProgress` while nobody knows the answer, `KeyReused` when it came with another
        fingerprint, `PaymentDeclined` when that was the answer.
        """

    async def place(self, request: OrderRequest) -> Order:
        """Take the stock and keep the order, its key and its cart id in one transaction, or do nothing.

        Payment on delivery makes it ``confirmed``; an order paid by card is ``placing``, its stock
        reserved and its payment in the ledger. Raises `KeyInProgress`, `KeyReused`, `PaymentDeclined`,
        `CartOrdered`, `OutOfStock`, `TotalChanged`, and `Invalid` for a voucher that is not good now. Of a SKU that is not sold any more, 0 are left. A key
        that made an order before returns that order.
        """

    async def move(self, order_id: str, move: Move) -> Order:
        """Take the step, with all it means for stock, cart, key, payment and history, in one transaction.

        An order that is there already stays as it is. Raises `WrongStatus` for a step that does not
        exist, `NotFound`.
        """

    async def by_id(self, account_id: str, order_id: str) -> Order | None:
        """This account's order, or None; also for a foreign one."""

    async def of_guest(self, order_id: str) -> Order | None:
        """The order of any guest, or None; also for an account's."""

    async def by_cart(self, account_id: str, cart_id: str) -> Order | None:
        """The order that this account's cart became, or None."""

    async def page(self, account_id: str, query: OrderQuery) -> Page[Order]:
        """This account's orders, newest first; raises `Invalid` for a page that no list has."""

    async def history(self, order_id: str) -> Sequence[OrderEvent]:
        """All that happened to the order, in its order."""
