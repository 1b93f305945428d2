"""The steps that carts' transactions are made of; each starts with the lock on the cart's row."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Integer, Text, any_, column, delete, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.cart import CartLines
from app.shop.catalog import Sku
from app.shop.errors import CartLimit, KeyReused, LoginNeeded
from app.stores.database import AnyRow, AnySelect
from app.stores.tables import accounts
from app.stores.tables_carts import cart_adds, cart_lines, cart_merges, carts

_REMEMBERED: Final = text("interval '2 days'")
"""How long an add and a merge are known as done: longer than a session, and any client's retries, last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCart:
    """A cart as kept; of two versions the higher one is newer, 0 is that of a cart never written."""

    version: int
    lines: CartLines


def whole(account_id: str) -> AnySelect:
    """A cart, a row for each line; a row without a SKU when it is empty."""
    return (
        select(carts.c.cart_id, carts.c.settled_id, carts.c.version, cart_lines.c.sku, cart_lines.c.quantity)
        .outerjoin_from(carts, cart_lines)
        .where(carts.c.account_id == account_id)
    )


def cart_of(rows: Sequence[AnyRow], *, left_out: Mapping[Sku, int] | None = None) -> KeptCart:
    """The cart that those rows are."""
    if not rows:
        return KeptCart(version=0, lines=CartLines(cart_id=None, quantities={}))
    lines = CartLines(
        cart_id=rows[0].cart_id,
        settled_id=rows[0].settled_id,
        quantities={row.sku: row.quantity for row in rows if row.sku is not None},
        left_out=left_out or {},
    )
    return KeptCart(version=rows[0].version, lines=lines)


async def read(connection: AsyncConnection, account_id: str) -> KeptCart:
    """The cart within a transaction."""
    return cart_of((await connection.execute(whole(account_id))).all())


async def lock(connection: AsyncConnection, account_id: str) -> None:
    """Be the only one who writes this cart until the transaction ends; makes it when it is not there."""
    known = select(accounts.c.id, literal(_fresh_id()), literal(1)).where(accounts.c.id == account_id)
    locked = await connection.scalar(
        insert(carts)
        .from_select(["account_id", "cart_id", "version"], known)
        .on_conflict_do_update(index_elements=[carts.c.account_id], set_={"version": carts.c.version + 1})
        .returning(carts.c.version)
    )
    if locked is None:
        raise LoginNeeded("this account is not there any more")


async def is_first_add(
    connection: AsyncConnection, account_id: str, once: str, sku: Sku, quantity: int
) -> bool:
    """Mark an add as done; False when it was before, `KeyReused` when another add had its key."""
    own = cart_adds.c.account_id == account_id
    await connection.execute(delete(cart_adds).where(own, cart_adds.c.added_at < func.now() - _REMEMBERED))
    marked = await connection.scalar(
        insert(cart_adds)
        .values(account_id=account_id, key=once, sku=sku, quantity=quantity)
        .on_conflict_do_nothing()
        .returning(cart_adds.c.key)
    )
    if marked is not None:
        return True
    told = select(cart_adds.c.sku, cart_adds.c.quantity).where(own, cart_adds.c.key == once)
    if tuple((await connection.execute(told)).one()) != (sku, quantity):
        raise KeyReused("this idempotency key belongs to another request")
    return False


async def add(connection: AsyncConnection, account_id: str, sku: Sku, quantity: int, *, at_most: int) -> None:
    """One bounded increment; raises `CartLimit`."""
    adding = insert(cart_lines).values(account_id=account_id, sku=sku, quantity=quantity)
    more = cart_lines.c.quantity + adding.excluded.quantity
    added = await connection.scalar(
        adding.on_conflict_do_update(
            index_elements=[cart_lines.c.account_id, cart_lines.c.sku],
            set_={"quantity": more},
            where=more <= at_most,
        ).returning(cart_lines.c.quantity)
    )
    if added is None:
        raise CartLimit(sku, at_most=at_most)


async def put(connection: AsyncConnection, account_id: str, quantities: Mapping[Sku, int]) -> None:
    """Set those lines; 0 removes."""
    gone = [sku for sku, quantity in quantities.items() if quantity == 0]
    if gone:
        them = cart_lines.c.sku == any_(literal(gone, ARRAY(Text)))
        await connection.execute(delete(cart_lines).where(cart_lines.c.account_id == account_id, them))
    rows = [
        {"account_id": account_id, "sku": sku, "quantity": quantity}
        for sku, quantity in quantities.items()
        if quantity
    ]
    if rows:
        putting = insert(cart_lines).values(rows)
        await connection.execute(
            putting.on_conflict_do_update(
                index_elements=[cart_lines.c.account_id, cart_lines.c.sku],
                set_={"quantity": putting.excluded.quantity},
            )
        )


async def is_first_merge(
    connection: AsyncConnection, account_id: str, guest_id: str, left_out: Mapping[Sku, int]
) -> bool:
    """Mark a guest's cart as brought in; False when it was before."""
    old = cart_merges.c.merged_at < func.now() - _REMEMBERED
    await connection.execute(delete(cart_merges).where(cart_merges.c.account_id == account_id, old))
    marked = await connection.scalar(
        insert(cart_merges)
        .values(cart_id=guest_id, account_id=account_id, left_out=dict(left_out))
        .on_conflict_do_nothing()
        .returning(cart_merges.c.cart_id)
    )
    return marked is not None


async def left_out(connection: AsyncConnection, account_id: str, guest_id: str) -> Mapping[Sku, int]:
    """What found no room when that guest's cart was brought in."""
    told: Mapping[Sku, int] | None = await connection.scalar(
        select(cart_merges.c.left_out).where(
            cart_merges.c.cart_id == guest_id, cart_merges.c.account_id == account_id
        )
    )
    return told or {}


async def settle(connection: AsyncConnection, account_id: str, ordered: CartLines) -> bool:
    """Take what was ordered out and renew the cart's id; False when that was done before."""
    renewed = await connection.execute(
        update(carts)
        .where(carts.c.account_id == account_id, carts.c.cart_id == ordered.cart_id)
        .values(cart_id=_fresh_id(), settled_id=carts.c.cart_id, version=carts.c.version + 1)
    )
    if not renewed.rowcount:
        return False
    taken = (
        func.unnest(
            literal(list(ordered.quantities), ARRAY(Text)),
            literal(list(ordered.quantities.values()), ARRAY(Integer)),
        )
        .table_valued(column("sku", Text), column("quantity", Integer), name="taken")
        .render_derived()
    )
    line = (cart_lines.c.account_id == account_id) & (cart_lines.c.sku == taken.c.sku)
    await connection.execute(delete(cart_lines).where(line, cart_lines.c.quantity <= taken.c.quantity))
    await connection.execute(
        update(cart_lines).where(line).values(quantity=cart_lines.c.quantity - taken.c.quantity)
    )
    return True


def _fresh_id() -> str:
    return secrets.token_urlsafe(16)
