"""What a shopper is told of their order, kept in the transaction that gives reason for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.mail import OrderMail, order_mail
from app.shop.orders import Order, OrderStatus
from app.stores import outbox
from app.stores.tables import accounts
from app.stores.tables_orders import orders

_TOLD: Final[Mapping[OrderStatus, OrderMail]] = {
    "confirmed": "order_confirmed",
    "shipped": "order_shipped",
    "cancelled": "order_cancelled",
}


GuestPath: TypeAlias = Callable[[str], str]
"""Where a guest sees an order of that id."""


async def tell(connection: AsyncConnection, order: Order, guest_path: GuestPath | None = None) -> None:
    """Have whoever ordered told of the status it has now, if that is news to them."""
    kind = _TOLD.get(order.status)
    if kind is None:
        return
    found = await connection.execute(
        select(
            func.coalesce(orders.c.contact_email, accounts.c.email).label("recipient"),
            func.coalesce(accounts.c.language, "vi").label("language"),
        )
        .join_from(orders, accounts, isouter=True)
        .where(orders.c.id == order.id)
    )
    to = found.one()
    if to.recipient is not None:
        path = guest_path(order.id) if guest_path and order.guest else None
        mail = order_mail(kind, order, recipient=to.recipient, language=to.language, path=path)
        await outbox.add(connection, mail)
