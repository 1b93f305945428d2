"""Everybody's orders, as the shop's own people look through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from app.shop.orders import Order, OrderStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class BookQuery:
    """Which orders are looked for: days are Vietnam's, both included; `before` is the last one's place.

    `number` is the last part of an order's number, or all of it.
    """

    status: OrderStatus | None = None
    since: date | None = None
    until: date | None = None
    number: int | None = None
    before: int | None = None
    most: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class BookPage:
    """Orders, the newest first; `next_before` leads to the older ones, None at the end."""

    orders: Sequence[Order]
    next_before: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """The day in Vietnam so far, in orders that stand and in whole đồng, and what waits for a hand.

    `waiting` is counted to `WAITING_MOST` and no further.
    """

    orders: int
    revenue: int
    waiting: int


WAITING_MOST = 1_000


class OrderBook(Protocol):
    """Everybody's orders. Raises `Unavailable`."""

    async def page(self, query: BookQuery) -> BookPage:
        """What matches; a million orders before it make no page slower."""

    async def find(self, order_id: str) -> Order | None:
        """Anybody's order, or None."""

    async def today(self) -> Today:
        """How the day goes."""
