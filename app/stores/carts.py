"""The carts of accounts in PostgreSQL: one writer of a cart at a time, a line at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.cart import LINES_LIMIT, CartLines
from app.shop.catalog import Sku
from app.shop.errors import CartLimit
from app.shop.merging import Merging, brought_in
from app.stores import cart_steps as steps
from app.stores import ordered_carts
from app.stores.accounts import is_uuid
from app.stores.cart_steps import KeptCart
from app.stores.database import Database
from app.stores.tables_carts import carts


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCarts:
    """Accounts' carts. Raises `Unavailable`; a write for an account that is not there `LoginNeeded`."""

    database: Database

    async def versions(self, account_ids: Iterable[str]) -> Mapping[str, int]:
        """The versions of those carts that were ever written; one query."""
        wanted = [account_id for account_id in account_ids if is_uuid(account_id)]
        rows = await self.database.rows(
            select(carts.c.account_id, carts.c.version).where(carts.c.account_id.in_(wanted))
        )
        return {row.account_id: row.version for row in rows}

    async def read(self, account_id: str) -> KeptCart:
        """The cart; one query."""
        rows = await self.database.rows(steps.whole(account_id)) if is_uuid(account_id) else []
        return steps.cart_of(rows)

    async def add(
        self, account_id: str, sku: Sku, quantity: int, *, at_most: int, once: str | None = None
    ) -> KeptCart:
        """Add units, of several adds with the same `once` one; raises `CartLimit`, `KeyReused`."""
        if quantity > at_most:
            raise CartLimit(sku, at_most=at_most)

        async def work(connection: AsyncConnection) -> KeptCart:
            await steps.lock(connection, account_id)
            if once is None or await steps.is_first_add(connection, account_id, once, sku, quantity):
                await steps.add(connection, account_id, sku, quantity, at_most=at_most)
            return _with_room_for(sku, await steps.read(connection, account_id))

        return await self.database.transaction(work)

    async def put(self, account_id: str, sku: Sku, quantity: int, *, at_most: int) -> KeptCart:
        """Set a line, 0 removes it; raises `CartLimit`."""
        if quantity > at_most:
            raise CartLimit(sku, at_most=at_most)

        async def work(connection: AsyncConnection) -> KeptCart:
            await steps.lock(connection, account_id)
            await steps.put(connection, account_id, {sku: quantity})
            return _with_room_for(sku, await steps.read(connection, account_id))

        return await self.database.transaction(work)

    async def settle(self, account_id: str, ordered: CartLines) -> KeptCart | None:
        """Take what was ordered out of the cart and renew its id; None when that was done before."""

        async def work(connection: AsyncConnection) -> KeptCart | None:
            is_first = await steps.settle(connection, account_id, ordered)
            return await steps.read(connection, account_id) if is_first else None

        return await self.database.transaction(work)

    async def merge(
        self, account_id: str, guest: CartLines, *, how: Merging, room: Mapping[Sku, int]
    ) -> KeptCart | None:
        """Bring a guest's cart in, once by its id; later calls tell again what was left out then.

        What was ordered of it stays out; None while an order of it is under way, which may give it back. `room` is how many units a line of each of the guest's SKUs may have.
        """
        guest_id = guest.cart_id or ""

        async def work(connection: AsyncConnection) -> KeptCart | None:
            left = await ordered_carts.left_of(connection, guest)
            if left is None:
                return None
            await steps.lock(connection, account_id)
            kept = await steps.read(connection, account_id)
            brought = brought_in(left.quantities, kept.lines.quantities, how, room=room)
            if await steps.is_first_merge(connection, account_id, guest_id, brought.left_out):
                await steps.put(connection, account_id, brought.changed)
            rows = (await connection.execute(steps.whole(account_id))).all()
            told = await steps.left_out(connection, account_id, guest_id)
            return steps.cart_of(rows, left_out=told)

        return await self.database.transaction(work)


def _with_room_for(sku: Sku, cart: KeptCart) -> KeptCart:
    """The cart after a line of it was written, unless that was one line too many; the lock makes it exact."""
    if len(cart.lines.quantities) > LINES_LIMIT:
        raise CartLimit(sku, at_most=0)
    return cart
