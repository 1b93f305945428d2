"""What an order means for the cart that it was made of, within the transactions of either."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.cart import CartLines
from app.shop.orders import Order
from app.shop.orders.statuses import RESERVES_STOCK
from app.stores import cart_steps
from app.stores.tables_orders import order_lines, orders


async def empty(connection: AsyncConnection, order: Order) -> None:
    """Take an account's order out of its cart as it is confirmed, whoever confirms it; a guest's lies elsewhere."""
    if order.account_id is not None and order.cart_id is not None:
        ordered = {line.sku: line.quantity for line in order.lines}
        await cart_steps.settle(
            connection, order.account_id, CartLines(cart_id=order.cart_id, quantities=ordered)
        )


async def left_of(connection: AsyncConnection, cart: CartLines) -> CartLines | None:
    """The cart without what was ordered of it; None while its order may still come to nothing.

    An order that stands keeps its cart for good, one that came to nothing has given it back.
    """
    rows = (
        await connection.execute(
            select(orders.c.status, order_lines.c.sku, order_lines.c.quantity)
            .join_from(orders, order_lines)
            .where(orders.c.cart_id == cart.cart_id)
        )
    ).all()
    if any(row.status in RESERVES_STOCK for row in rows):
        return None
    ordered = {row.sku: row.quantity for row in rows}
    left = {sku: units - ordered.get(sku, 0) for sku, units in cart.quantities.items()}
    return replace(cart, quantities={sku: units for sku, units in left.items() if units > 0})
