"""Units on the shelf: taken, set aside and put back under locks that everybody takes in one order.

A variant's `stock` is what may still be sold: a reservation's units are out of it already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    Update,
    any_,
    column,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Sku
from app.shop.errors import OutOfStock
from app.shop.orders import OrderLine
from app.stores.catalog import full_name, sellable
from app.stores.database import AnyRow
from app.stores.orders.rows import now
from app.stores.tables import products, variants
from app.stores.tables_orders import order_lines, reservations


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A line whose units left the shelf; `counted` where somebody counts them, `grams` what one weighs."""

    line: OrderLine
    counted: bool
    grams: int


async def take(connection: AsyncConnection, quantities: Mapping[Sku, int]) -> Sequence[Taken]:
    """Lock the SKUs in their order, see that there is enough of each, and take it; raises `OutOfStock`."""
    wanted = sorted(quantities)
    locked = await connection.execute(
        select(
            variants.c.sku,
            variants.c.price,
            variants.c.grams,
            variants.c.sells_past_zero,
            sellable.label("stock"),
            variants.c.name.label("variant"),
            products.c.name.label("product"),
        )
        .join(products)
        .where(_one_of(wanted), products.c.visible)
        .order_by(variants.c.sku)
        .with_for_update(of=variants)
    )
    offered = {row.sku: row for row in locked}
    for sku in wanted:
        left = offered[sku].stock if sku in offered else 0
        if left < quantities[sku]:
            raise OutOfStock(sku, left=left)
    taken = [_taken(offered[sku], quantities[sku]) for sku in wanted]
    counted = {each.line.sku: -each.line.quantity for each in taken if each.counted}
    if counted:
        await connection.execute(_changed(counted))
    return taken


async def reserve(
    connection: AsyncConnection, order_id: str, taken: Sequence[Taken], expires_in: timedelta
) -> None:
    """Note which units wait for a payment, and until when."""
    rows = [
        {"order_id": order_id, "sku": each.line.sku, "quantity": each.line.quantity}
        for each in taken
        if each.counted
    ]
    if rows:
        await connection.execute(insert(reservations).values(expires_at=now() + expires_in), rows)


async def keep_reserved(connection: AsyncConnection, order_id: str, expires_in: timedelta) -> None:
    """Wait longer."""
    await connection.execute(
        update(reservations).where(reservations.c.order_id == order_id).values(expires_at=now() + expires_in)
    )


async def sell_reserved(connection: AsyncConnection, order_id: str) -> None:
    """The units are the order's; they left the shelf when they were reserved."""
    await connection.execute(delete(reservations).where(reservations.c.order_id == order_id))


async def release_reserved(connection: AsyncConnection, order_id: str) -> None:
    """Put what was reserved back on the shelf."""
    gone = await connection.execute(
        delete(reservations)
        .where(reservations.c.order_id == order_id)
        .returning(reservations.c.sku, reservations.c.quantity)
    )
    await _put_back(connection, {row.sku: row.quantity for row in gone})


async def return_sold(connection: AsyncConnection, order_id: str) -> None:
    """Put what was sold back on the shelf."""
    sold = await connection.execute(
        select(order_lines.c.sku, order_lines.c.quantity).where(
            order_lines.c.order_id == order_id, order_lines.c.counted
        )
    )
    await _put_back(connection, {row.sku: row.quantity for row in sold})


async def _put_back(connection: AsyncConnection, quantities: Mapping[Sku, int]) -> None:
    if not quantities:
        return
    locking = select(variants.c.sku).where(_one_of(sorted(quantities))).order_by(variants.c.sku)
    await connection.execute(locking.with_for_update())
    await connection.execute(_changed(quantities))


def _one_of(skus: Sequence[Sku]) -> ColumnElement[bool]:
    return variants.c.sku == any_(literal(skus, ARRAY(Text)))


def _changed(by: Mapping[Sku, int]) -> Update:
    """Take units, or put back what was counted when it was taken, however the shop counts it since.

    The table refuses a stock below zero, should the lock be forgotten.
    """
    change = (
        func.unnest(literal(list(by), ARRAY(Text)), literal(list(by.values()), ARRAY(Integer)))
        .table_valued(column("sku", Text), column("by", Integer), name="change")
        .render_derived()
    )
    return update(variants).where(variants.c.sku == change.c.sku).values(stock=variants.c.stock + change.c.by)


def _taken(row: AnyRow, quantity: int) -> Taken:
    name = full_name(row.product, row.variant)
    line = OrderLine(sku=row.sku, name=name, quantity=quantity, unit_price=row.price)
    return Taken(line=line, counted=not row.sells_past_zero, grams=row.grams)
