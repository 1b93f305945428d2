"""The orders' port in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.orders import LISTED, VIETNAM, Move, Order, OrderEvent, OrderQuery, OrderRequest
from app.shop.paging import Page, offset_of
from app.shop.pricing import Charges, standard_charges
from app.shop.text import storable
from app.stores.accounts import is_uuid
from app.stores.database import Database
from app.stores.orders import history, keys, moving, placing
from app.stores.orders.mail import GuestPath
from app.stores.orders.owners import owned
from app.stores.orders.rows import has_status, orders_of, with_lines
from app.stores.tables_orders import orders


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlOrders:
    """The orders' port on the tables of `app.stores.tables_orders` and the stock in `variants`."""

    database: Database
    charges: Charges = field(default_factory=standard_charges)
    guest_path: GuestPath | None = None
    clock: Callable[[], datetime] = _now

    async def replay(self, account_id: str, key: str, fingerprint: str) -> Order | None:
        """Reads only."""
        if not storable(key):
            return None
        kept = await self.database.row(keys.kept(account_id, key))
        if kept is None:
            return None
        keys.check(kept, fingerprint)
        order = await self._one(orders.c.id == kept.order_id)
        return None if order is None else keys.answer(kept, order)

    async def place(self, request: OrderRequest) -> Order:
        """One transaction."""

        async def work(connection: AsyncConnection) -> Order:
            return await placing.place(
                connection, request, self.clock(), charges=self.charges, guest_path=self.guest_path
            )

        return await self.database.transaction(work)

    async def move(self, order_id: str, move: Move) -> Order:
        """One transaction."""

        async def work(connection: AsyncConnection) -> Order:
            return await moving.move(connection, order_id, move, self.clock(), guest_path=self.guest_path)

        return await self.database.transaction(work)

    async def by_id(self, account_id: str, order_id: str) -> Order | None:
        """One query."""
        if not is_uuid(order_id):
            return None
        return await self._one(orders.c.id == order_id, owned(orders, account_id))

    async def of_guest(self, order_id: str) -> Order | None:
        """One query."""
        if not is_uuid(order_id):
            return None
        return await self._one(orders.c.id == order_id, orders.c.guest.is_not(None))

    async def by_cart(self, account_id: str, cart_id: str) -> Order | None:
        """One query."""
        if not storable(cart_id):
            return None
        return await self._one(orders.c.cart_id == cart_id, owned(orders, account_id))

    async def page(self, account_id: str, query: OrderQuery) -> Page[Order]:
        """One query for the page and its lines, another for the total."""
        offset = offset_of(query.page, query.page_size)
        if not is_uuid(account_id):
            return Page(items=[], total=0, page=query.page, page_size=query.page_size)
        which = [orders.c.account_id == account_id, *_narrowed(query)]
        counted = await self.database.row(select(func.count()).select_from(orders).where(*which))
        chosen = (
            select(orders.c.id)
            .where(*which)
            .order_by(orders.c.sequence.desc())
            .limit(query.page_size)
            .offset(offset)
        )
        found = orders_of(await self.database.rows(with_lines(orders.c.id.in_(chosen))))
        total = counted[0] if counted else 0
        return Page(items=found, total=total, page=query.page, page_size=query.page_size)

    async def history(self, order_id: str) -> Sequence[OrderEvent]:
        """One query."""
        if not is_uuid(order_id):
            return []
        return history.events_of(await self.database.rows(history.select_events(order_id)))

    async def _one(self, *which: ColumnElement[bool]) -> Order | None:
        return next(iter(orders_of(await self.database.rows(with_lines(*which)))), None)


def _narrowed(query: OrderQuery) -> Sequence[ColumnElement[bool]]:
    """Days are Vietnam's, from its midnight to the next."""
    narrowed = [has_status(query.status) if query.status else has_status(*LISTED)]
    if query.since is not None:
        narrowed.append(orders.c.placed_at >= datetime.combine(query.since, time(), VIETNAM))
    if query.until is not None:
        next_day = query.until + timedelta(days=1)
        narrowed.append(orders.c.placed_at < datetime.combine(next_day, time(), VIETNAM))
    return narrowed
