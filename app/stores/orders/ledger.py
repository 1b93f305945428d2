"""The shop's book of payments in PostgreSQL; see `app.shop.orders.ledger`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, func, insert, literal, null, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.orders import Booking, OpenPayment, OrderRequest, Wanted
from app.stores.accounts import is_uuid
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.orders.rows import now, status_of
from app.stores.tables_orders import order_payments, orders

FIRST_WAIT: Final = timedelta(seconds=2)
LONGEST_WAIT: Final = timedelta(seconds=30)
"""Between two looks at the same payment: doubled each time, so that an acquirer that is away is not stormed."""

_DOUBLINGS: Final = 10
"""More would be past any wait, and one day past any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlLedger:
    """The ledger's port on the table `order_payments`."""

    database: Database

    async def due(self, *, most: int) -> Sequence[OpenPayment]:
        """One transaction of three statements; whoever takes a look pushes the next one beyond it."""

        async def work(connection: AsyncConnection) -> Sequence[OpenPayment]:
            waiting = (
                select(order_payments.c.order_id)
                .where(order_payments.c.due_at <= now())
                .order_by(order_payments.c.due_at)
                .limit(most)
                .with_for_update(skip_locked=True)
            )
            ids = (await connection.execute(waiting)).scalars().all()
            if not ids:
                return []
            await connection.execute(
                update(order_payments)
                .where(order_payments.c.order_id.in_(ids))
                .values(attempts=order_payments.c.attempts + 1, due_at=now() + _wait())
            )
            found = await connection.execute(_select().where(order_payments.c.order_id.in_(ids)))
            return [_open(row) for row in found]

        return await self.database.transaction(work)

    async def open_of(self, order_id: str) -> OpenPayment | None:
        """One query."""
        if not is_uuid(order_id):
            return None
        row = await self.database.row(
            _select().where(order_payments.c.order_id == order_id, order_payments.c.due_at.is_not(None))
        )
        return None if row is None else _open(row)

    async def book(self, payment: OpenPayment, booking: Booking) -> None:
        """One statement."""

        async def work(connection: AsyncConnection) -> None:
            await write(connection, payment.order_id, booking, only_while=payment.wanted)

        await self.database.transaction(work)


async def open_book(connection: AsyncConnection, request: OrderRequest, order_id: str, amount: int) -> None:
    """The payment of a new order, before the acquirer hears of it."""
    await connection.execute(
        insert(order_payments).values(
            order_id=order_id,
            reference=order_id,
            amount=amount,
            status="asked",
            wanted="held",
            expires_at=now() + request.reserve_for,
            due_at=now() + request.lease,
        )
    )


async def write(
    connection: AsyncConnection,
    order_id: str,
    booking: Booking,
    *,
    expires_in: timedelta | None = None,
    only_while: Wanted | None = None,
) -> None:
    """Write a booking down; an order without a card has no book."""
    told = {
        "status": booking.status,
        "wanted": booking.wanted,
        "payment_id": booking.payment_id,
        "redirect_url": booking.redirect_url,
        "declined_as": booking.declined_as,
        "expires_at": None if expires_in is None else now() + expires_in,
    }
    always = {"due_at": null() if booking.look_in is None else now() + booking.look_in, "attempts": 0}
    await connection.execute(
        update(order_payments)
        .where(order_payments.c.order_id == order_id)
        .where(true() if only_while is None else order_payments.c.wanted == only_while)
        .values({name: value for name, value in told.items() if value is not None} | always)
    )


def _wait() -> ColumnElement[timedelta]:
    doubled_s = literal(FIRST_WAIT.total_seconds()) * func.power(
        2, func.least(order_payments.c.attempts, _DOUBLINGS)
    )
    wait_s = func.least(doubled_s, LONGEST_WAIT.total_seconds())
    return func.make_interval(0, 0, 0, 0, 0, 0, wait_s)


def _select() -> AnySelect:
    return select(
        order_payments,
        (order_payments.c.expires_at <= now()).label("is_late"),
        orders.c.status.label("order_status"),
    ).join(orders)


def _open(row: AnyRow) -> OpenPayment:
    return OpenPayment(
        order_id=row.order_id,
        reference=row.reference,
        status=row.status,
        wanted=row.wanted,
        amount=row.amount,
        payment_id=row.payment_id,
        order_status=status_of(row.order_status),
        is_late=row.is_late,
        attempts=row.attempts,
    )
