"""What happened to an order, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.orders import OrderEvent, OrderStatus
from app.stores.database import AnyRow, AnySelect
from app.stores.orders.rows import status_of
from app.stores.tables_orders import order_events


async def note(
    connection: AsyncConnection,
    order_id: str,
    *,
    happened_at: datetime,
    actor: str,
    before: OrderStatus | None,
    after: OrderStatus,
    note: str = "",
) -> None:
    """Add one step."""
    await connection.execute(
        insert(order_events).values(
            order_id=order_id,
            happened_at=happened_at,
            actor=actor,
            before=before,
            after=after,
            note=note,
        )
    )


def select_events(order_id: str) -> AnySelect:
    """All steps, in their order."""
    return select(order_events).where(order_events.c.order_id == order_id).order_by(order_events.c.id)


def events_of(rows: Sequence[AnyRow]) -> Sequence[OrderEvent]:
    """The steps that those rows tell."""
    return [
        OrderEvent(
            happened_at=row.happened_at,
            actor=row.actor,
            before=None if row.before is None else status_of(row.before),
            after=status_of(row.after),
            note=row.note,
        )
        for row in rows
    ]
