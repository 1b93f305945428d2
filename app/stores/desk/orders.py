"""Everybody's orders in PostgreSQL: pages follow an index from where the last one ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, func, select

from app.shop.desk.orders import WAITING_MOST, BookPage, BookQuery, Today
from app.shop.orders import VIETNAM, Order
from app.stores.accounts import is_uuid
from app.stores.database import Database
from app.stores.orders.rows import has_status, orders_of, with_lines
from app.stores.tables_orders import orders


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlOrderBook:
    """The book's port on the tables of orders."""

    database: Database
    clock: Callable[[], datetime] = _now

    async def page(self, query: BookQuery) -> BookPage:
        """One query to choose, one for the chosen and their lines."""
        chosen = await self.database.rows(
            select(orders.c.id, orders.c.sequence)
            .where(*_asked(query))
            .order_by(orders.c.sequence.desc())
            .limit(query.most + 1)
        )
        shown = chosen[: query.most]
        rows = await self.database.rows(with_lines(orders.c.id.in_([row.id for row in shown])))
        has_more = len(chosen) > query.most
        return BookPage(orders=orders_of(rows), next_before=shown[-1].sequence if has_more else None)

    async def find(self, order_id: str) -> Order | None:
        """One query."""
        if not is_uuid(order_id):
            return None
        return next(iter(orders_of(await self.database.rows(with_lines(orders.c.id == order_id)))), None)

    async def today(self) -> Today:
        """Two queries."""
        began = _midnight(self.clock().astimezone(VIETNAM).date())
        stands = has_status("confirmed", "packed", "shipped", "delivered")
        day = await self.database.row(
            select(func.count().label("orders"), func.coalesce(func.sum(orders.c.total), 0).label("revenue"))
            .select_from(orders)
            .where(orders.c.placed_at >= began, stands)
        )
        some = select(orders.c.id).where(has_status("confirmed", "packed")).limit(WAITING_MOST).subquery()
        waiting = await self.database.row(select(func.count()).select_from(some))
        return Today(
            orders=day.orders if day else 0,
            revenue=int(day.revenue) if day else 0,
            waiting=waiting[0] if waiting else 0,
        )


def _asked(query: BookQuery) -> Sequence[ColumnElement[bool]]:
    asked: list[ColumnElement[bool]] = []
    if query.status is not None:
        asked.append(has_status(query.status))
    if query.since is not None:
        asked.append(orders.c.placed_at >= _midnight(query.since))
    if query.until is not None:
        asked.append(orders.c.placed_at < _midnight(query.until + timedelta(days=1)))
    if query.number is not None:
        asked.append(orders.c.sequence == query.number)
    if query.before is not None:
        asked.append(orders.c.sequence < query.before)
    return asked


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), VIETNAM)
