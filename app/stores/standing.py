"""Who may come in, in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, Role, mail_to
from app.shop.errors import LastOwner
from app.shop.mail import MailKind
from app.shop.standing import Changed
from app.stores import outbox
from app.stores.accounts import account_of_row, is_open, is_uuid, not_erased
from app.stores.database import AnyRow, Database
from app.stores.revocations import promise
from app.stores.tables import accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStandings:
    """The port on the table `accounts`."""

    database: Database

    async def lock(self, account_id: str) -> Changed | None:
        """Locked once, however often it is asked."""

        async def work(connection: AsyncConnection) -> Changed | None:
            row = await locked_row(connection, account_id)
            if row is None:
                return None
            if row.locked_at is not None:
                return account_of_row(row), None
            await leave_an_owner(connection, row)
            return await _change(connection, row, "account_locked", locked_at=func.now())

        return await self.database.transaction(work) if is_uuid(account_id) else None

    async def unlock(self, account_id: str) -> Account | None:
        """Their sessions ended when it was locked, and stay ended."""

        async def work(connection: AsyncConnection) -> Account | None:
            row = await locked_row(connection, account_id)
            if row is None:
                return None
            if row.locked_at is None:
                return account_of_row(row)
            unlocked = await connection.execute(
                update(accounts).where(accounts.c.id == account_id).values(locked_at=None).returning(accounts)
            )
            account = account_of_row(unlocked.one())
            await outbox.add(connection, mail_to(account, "account_unlocked"))
            return account

        return await self.database.transaction(work) if is_uuid(account_id) else None

    async def give(self, account_id: str, role: Role) -> Changed | None:
        """Nothing happens to whoever has that role."""

        async def work(connection: AsyncConnection) -> Changed | None:
            row = await locked_row(connection, account_id)
            if row is None:
                return None
            if row.role == role:
                return account_of_row(row), None
            await leave_an_owner(connection, row)
            return await _change(connection, row, "role_changed", role=role)

        return await self.database.transaction(work) if is_uuid(account_id) else None


async def locked_row(connection: AsyncConnection, account_id: str) -> AnyRow | None:
    """The account under a lock, together with every owner: two owners who lock each other come one by one."""
    found = await connection.execute(
        select(accounts)
        .where(not_erased(), (accounts.c.id == account_id) | (accounts.c.role == "owner"))
        .order_by(accounts.c.id)
        .with_for_update()
    )
    return next((row for row in found if row.id == account_id), None)


async def leave_an_owner(connection: AsyncConnection, row: AnyRow) -> None:
    """Raises `LastOwner` where the account is the only owner who may come in."""
    others = select(func.count()).where(accounts.c.role == "owner", accounts.c.id != row.id, is_open())
    if row.role == "owner" and not await connection.scalar(others):
        raise LastOwner("nobody would be left to run the shop")


async def _change(connection: AsyncConnection, row: AnyRow, kind: MailKind, **values: Any) -> Changed:  # noqa: ANN401 -- values of columns
    changed = await connection.execute(
        update(accounts).where(accounts.c.id == row.id).values(values).returning(accounts)
    )
    account = account_of_row(changed.one())
    await outbox.add(connection, mail_to(account, kind))
    return account, await promise(connection, account.id)
