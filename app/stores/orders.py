"""Orders in PostgreSQL: stock, order, key and cart id change together or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    Update,
    any_,
    case,
    column,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Sku
from app.shop.errors import CartOrdered, KeyInProgress, KeyReused, NotFound, OutOfStock, TotalChanged
from app.shop.orders import Order, OrderLine, OrderRequest, Shipping, order_number
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.stores.accounts import is_uuid
from app.stores.catalog import full_name, sellable
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.tables import order_keys, order_lines, orders, products, variants


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlOrders:
    """The orders' port on the tables `orders`, `order_lines`, `order_keys` and the stock in `variants`."""

    database: Database
    clock: Callable[[], datetime] = _now

    async def replay(self, account_id: str, key: str, fingerprint: str) -> Order | None:
        """Reads only; a request that works on the key right now is met by `place`."""
        if not (is_uuid(account_id) and storable(key)):
            return None
        kept = await self.database.row(_kept(account_id, key))
        if kept is None:
            return None
        if kept.fingerprint != fingerprint:
            raise KeyReused("this idempotency key belongs to another request")
        return await self._one(orders.c.id == kept.order_id)

    async def place(self, request: OrderRequest) -> Order:
        """One transaction. Locks are taken in one order: the key, the cart, the SKUs sorted."""
        return await self.database.transaction(partial(self._place, request))

    async def by_id(self, account_id: str, order_id: str) -> Order | None:
        """One query."""
        if not (is_uuid(account_id) and is_uuid(order_id)):
            return None
        return await self._one(orders.c.id == order_id, orders.c.account_id == account_id)

    async def by_cart(self, account_id: str, cart_id: str) -> Order | None:
        """One query."""
        if not (is_uuid(account_id) and storable(cart_id)):
            return None
        return await self._one(orders.c.cart_id == cart_id, orders.c.account_id == account_id)

    async def page(self, account_id: str, *, page: int, page_size: int) -> Page[Order]:
        """One query for the page and its lines, another for the total."""
        offset = offset_of(page, page_size)
        if not is_uuid(account_id):
            return Page(items=[], total=0, page=page, page_size=page_size)
        own = orders.c.account_id == account_id
        counted = await self.database.row(select(func.count()).select_from(orders).where(own))
        chosen = (
            select(orders.c.id).where(own).order_by(orders.c.sequence.desc()).limit(page_size).offset(offset)
        )
        found = _orders(await self.database.rows(_with_lines(orders.c.id.in_(chosen))))
        return Page(items=found, total=counted[0] if counted else 0, page=page, page_size=page_size)

    async def _one(self, *which: ColumnElement[bool]) -> Order | None:
        return next(iter(_orders(await self.database.rows(_with_lines(*which)))), None)

    async def _place(self, request: OrderRequest, connection: AsyncConnection) -> Order:
        await _lock_key(connection, request)
        kept = (await connection.execute(_kept(request.account_id, request.key))).first()
        if kept is not None:
            return await _replayed(connection, kept, request.fingerprint)
        order_id = await self._insert_order(connection, request)
        lines = await _take_stock(connection, request)
        total = sum(line.total for line in lines)
        if total != request.expected_total:
            raise TotalChanged(expected=request.expected_total, actual=total)
        await _insert_lines(connection, request, order_id, lines)
        placed = await connection.execute(_with_lines(orders.c.id == order_id))
        return _orders(placed.all())[0]

    async def _insert_order(self, connection: AsyncConnection, request: OrderRequest) -> str:
        """Claim the cart, before any stock is locked; a second order of one cart waits here for the first."""
        order_id = str(uuid4())
        claimed = await connection.execute(
            upsert(orders)
            .values(
                id=order_id,
                account_id=request.account_id,
                cart_id=request.cart_id,
                status="placed",
                payment=request.payment,
                shipping=asdict(request.shipping),
                total=request.expected_total,
                placed_at=self.clock(),
            )
            .on_conflict_do_nothing(index_elements=[orders.c.cart_id])
            .returning(orders.c.id)
        )
        if claimed.one_or_none() is None:
            raise await _cart_ordered(connection, request)
        return order_id


async def _lock_key(connection: AsyncConnection, request: OrderRequest) -> None:
    """Be the only one who works on this key until the transaction ends, or raise `KeyInProgress`."""
    name = f"order {request.account_id} {request.key}".encode()
    number = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)
    if not await connection.scalar(select(func.pg_try_advisory_xact_lock(number))):
        raise KeyInProgress("another request with this idempotency key is being worked on")


async def _replayed(connection: AsyncConnection, kept: AnyRow, fingerprint: str) -> Order:
    if kept.fingerprint != fingerprint:
        raise KeyReused("this idempotency key belongs to another request")
    return _orders((await connection.execute(_with_lines(orders.c.id == kept.order_id))).all())[0]


async def _cart_ordered(connection: AsyncConnection, request: OrderRequest) -> CartOrdered | NotFound:
    """What the cart became; a cart that somebody else ordered does not exist for this account."""
    order_id = await connection.scalar(
        select(orders.c.id).where(
            orders.c.cart_id == request.cart_id, orders.c.account_id == request.account_id
        )
    )
    return NotFound("cart") if order_id is None else CartOrdered(order_id)


async def _take_stock(connection: AsyncConnection, request: OrderRequest) -> Sequence[OrderLine]:
    """Lock the SKUs in their order, see that there is enough of each, and take it."""
    wanted = sorted(request.quantities)
    locked = await connection.execute(
        select(
            variants.c.sku,
            variants.c.price,
            sellable.label("stock"),
            variants.c.name.label("variant"),
            products.c.name.label("product"),
        )
        .join(products)
        .where(variants.c.sku == any_(literal(wanted, ARRAY(Text))), products.c.visible)
        .order_by(variants.c.sku)
        .with_for_update(of=variants)
    )
    offered = {row.sku: row for row in locked}
    for sku in wanted:
        left = offered[sku].stock if sku in offered else 0
        if left < request.quantities[sku]:
            raise OutOfStock(sku, left=left)
    await connection.execute(_decrement(request.quantities))
    return [_line(offered[sku], request.quantities[sku]) for sku in wanted]


def _decrement(quantities: Mapping[Sku, int]) -> Update:
    """Take the units that are counted; the table refuses a stock below zero, should the lock be forgotten."""
    taken = (
        func.unnest(
            literal(list(quantities), ARRAY(Text)), literal(list(quantities.values()), ARRAY(Integer))
        )
        .table_valued(column("sku", Text), column("quantity", Integer), name="taken")
        .render_derived()
    )
    return (
        update(variants)
        .where(variants.c.sku == taken.c.sku)
        .values(
            stock=case(
                (variants.c.sells_past_zero, variants.c.stock), else_=variants.c.stock - taken.c.quantity
            )
        )
    )


def _line(row: AnyRow, quantity: int) -> OrderLine:
    return OrderLine(
        sku=row.sku, name=full_name(row.product, row.variant), quantity=quantity, unit_price=row.price
    )


async def _insert_lines(
    connection: AsyncConnection, request: OrderRequest, order_id: str, lines: Sequence[OrderLine]
) -> None:
    rows = [
        {"order_id": order_id, "position": position, **asdict(line)} for position, line in enumerate(lines)
    ]
    await connection.execute(insert(order_lines), rows)
    await connection.execute(
        insert(order_keys).values(
            account_id=request.account_id,
            key=request.key,
            fingerprint=request.fingerprint,
            order_id=order_id,
        )
    )


def _kept(account_id: str, key: str) -> AnySelect:
    return select(order_keys.c.fingerprint, order_keys.c.order_id).where(
        order_keys.c.account_id == account_id, order_keys.c.key == key
    )


def _with_lines(*which: ColumnElement[bool]) -> AnySelect:
    """The orders, newest first, a row for each line."""
    return (
        select(
            orders,
            order_lines.c.sku,
            order_lines.c.name,
            order_lines.c.quantity,
            order_lines.c.unit_price,
        )
        .join(order_lines)
        .where(*which)
        .order_by(orders.c.sequence.desc(), order_lines.c.position)
    )


def _orders(rows: Sequence[AnyRow]) -> Sequence[Order]:
    return [_order(list(lines)) for _, lines in groupby(rows, key=lambda row: row.id)]


def _order(rows: Sequence[AnyRow]) -> Order:
    first = rows[0]
    return Order(
        id=first.id,
        number=order_number(first.placed_at, first.sequence),
        cart_id=first.cart_id,
        account_id=first.account_id,
        status=first.status,
        payment=first.payment,
        shipping=Shipping(**first.shipping),
        lines=[
            OrderLine(sku=row.sku, name=row.name, quantity=row.quantity, unit_price=row.unit_price)
            for row in rows
        ],
        total=first.total,
        placed_at=first.placed_at,
    )
