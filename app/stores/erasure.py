"""Forgetting a person in PostgreSQL: one transaction over every table that knows them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Table, delete, exists, func, literal, null, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, mail_to
from app.shop.errors import OrdersUnderWay
from app.shop.personal import UNDER_WAY
from app.stores import outbox
from app.stores.accounts import account_of_row, is_uuid
from app.stores.database import Database
from app.stores.revocations import promise
from app.stores.standing import leave_an_owner, locked_row
from app.stores.tables import accounts
from app.stores.tables_accounts import addresses, email_changes, password_resets
from app.stores.tables_carts import carts
from app.stores.tables_mail import outbox as mails
from app.stores.tables_orders import order_keys, orders

_THEIRS: tuple[Table, ...] = (addresses, email_changes, password_resets, carts, order_keys)
"""Nothing of these is needed once the person is gone; what hangs on a cart goes with it."""

_NOBODY = {"name": "", "phone": "", "address": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlErasure:
    """The erasure's port. The account's row stays, so that orders, deeds and revocations have somebody to name."""

    database: Database

    async def erase(self, account_id: str) -> int | None:
        """The account is locked first: an order that is being placed is seen, or comes too late to be theirs."""

        async def work(connection: AsyncConnection) -> int | None:
            row = await locked_row(connection, account_id)
            if row is None:
                return None
            await leave_an_owner(connection, row)
            await _refuse_orders_under_way(connection, account_id)
            account = account_of_row(row)
            for table in _THEIRS:
                await connection.execute(delete(table).where(table.c.account_id == account_id))
            await _forget_in_orders(connection, account_id)
            await connection.execute(delete(mails).where(mails.c.recipient.in_([row.email, row.email_key])))
            await outbox.add(connection, mail_to(account, "account_erased"))
            await _empty(connection, account)
            return await promise(connection, account_id)

        return await self.database.transaction(work) if is_uuid(account_id) else None


async def _refuse_orders_under_way(connection: AsyncConnection, account_id: str) -> None:
    # The version before called a confirmed order placed.
    statuses = [*UNDER_WAY, "placed"]
    under_way = select(exists().where(orders.c.account_id == account_id, orders.c.status.in_(statuses)))
    if await connection.scalar(under_way):
        raise OrdersUnderWay("an order of this account is under way")


async def _forget_in_orders(connection: AsyncConnection, account_id: str) -> None:
    """What was sold, when and for how much stays, and so does the province, for the books."""
    await connection.execute(
        update(orders)
        .where(orders.c.account_id == account_id)
        .values(
            shipping=orders.c.shipping.op("||")(literal(_NOBODY, JSONB)),
            contact_email=null(),
            contact_phone=null(),
        )
    )


async def _empty(connection: AsyncConnection, account: Account) -> None:
    """No password is empty's hash, and no e-mail has such a key: the old one is free again."""
    nobody = f"{account.id}@erased.invalid"
    await connection.execute(
        update(accounts)
        .where(accounts.c.id == account.id)
        .values(
            email=nobody,
            email_key=nobody,
            name="",
            phone="",
            password_hash="",
            role="customer",
            erased_at=func.now(),
        )
    )
