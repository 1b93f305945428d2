"""Stock at the desk: relative changes, beside the sales that go on meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Sku
from app.shop.desk.audit import Deed
from app.shop.desk.stock import STOCK_MOST, Movement, Reason, Stocked
from app.shop.errors import Invalid, NotFound, OutOfStock
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.stores.catalog import full_name
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.desk.audit import email_of, once, record
from app.stores.tables import products, variants
from app.stores.tables_desk import stock_movements

_LOW: int = 5
"""Units; less than a day's sales of what sells well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStock:
    """The port of stock on `variants` and `stock_movements`."""

    database: Database

    async def find(self, sku: Sku) -> Stocked | None:
        """One query."""
        if not storable(sku):
            return None
        row = await self.database.row(_stocked().where(variants.c.sku == sku))
        return None if row is None else _as_stocked(row)

    async def move(self, sku: Sku, quantity: int, deed: Deed, *, reason: Reason, note: str) -> None:
        """One conditional update: whatever was sold a moment before is seen, and none is sold twice."""

        async def work(connection: AsyncConnection) -> None:
            await once(connection, deed)
            stock = await _moved(connection, sku, quantity)
            await connection.execute(
                insert(stock_movements).values(
                    sku=sku,
                    quantity=quantity,
                    stock=stock,
                    reason=reason,
                    note=note,
                    account_id=deed.account_id,
                    email=email_of(deed),
                )
            )
            await record(
                connection,
                deed,
                action="stock.move",
                subject=f"stock {sku}",
                before={"stock": stock - quantity},
                after={"stock": stock, "quantity": quantity, "reason": reason, "note": note},
            )

        await self.database.transaction(work)

    async def history(self, sku: Sku, *, page: int, page_size: int) -> Page[Movement]:
        """Along an index; another query for the total."""
        offset = offset_of(page, page_size)
        if not storable(sku):
            return Page(items=[], total=0, page=page, page_size=page_size)
        own = stock_movements.c.sku == sku
        counted = await self.database.row(select(func.count()).select_from(stock_movements).where(own))
        rows = await self.database.rows(
            select(stock_movements)
            .where(own)
            .order_by(stock_movements.c.id.desc())
            .limit(page_size)
            .offset(offset)
        )
        items = [_movement(row) for row in rows]
        return Page(items=items, total=counted[0] if counted else 0, page=page, page_size=page_size)

    async def low(self, *, most: int) -> Sequence[Stocked]:
        """A walk through all variants: an index on the stock would cost every sale more than it saves here."""
        rows = await self.database.rows(
            _stocked()
            .where(products.c.visible, ~variants.c.sells_past_zero, variants.c.stock < _LOW)
            .order_by(variants.c.stock, variants.c.sku)
            .limit(most)
        )
        return [_as_stocked(row) for row in rows]


async def _moved(connection: AsyncConnection, sku: Sku, quantity: int) -> int:
    """What is there afterwards; raises `NotFound`, `OutOfStock`, `Invalid`."""
    moved: int | None = await connection.scalar(
        update(variants)
        .where(variants.c.sku == sku, (variants.c.stock + quantity).between(0, STOCK_MOST))
        .values(stock=variants.c.stock + quantity)
        .returning(variants.c.stock)
    )
    if moved is not None:
        return moved
    left = await connection.scalar(select(variants.c.stock).where(variants.c.sku == sku))
    if left is None:
        raise NotFound("variant")
    if quantity > 0:
        raise Invalid("quantity", f"would pass {STOCK_MOST}", code="movement_invalid")
    raise OutOfStock(sku, left=left)


def _stocked() -> AnySelect:
    return select(
        variants.c.sku,
        products.c.slug,
        products.c.name.label("product"),
        variants.c.name.label("variant"),
        variants.c.stock,
    ).join(products)


def _as_stocked(row: AnyRow) -> Stocked:
    return Stocked(sku=row.sku, slug=row.slug, name=full_name(row.product, row.variant), stock=row.stock)


def _movement(row: AnyRow) -> Movement:
    return Movement(
        at=row.at,
        sku=row.sku,
        quantity=row.quantity,
        stock=row.stock,
        reason=row.reason,
        note=row.note,
        email=row.email,
    )
