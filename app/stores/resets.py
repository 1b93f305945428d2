"""Resets of forgotten passwords in PostgreSQL."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, mail_to
from app.shop.mail import Message
from app.stores import outbox
from app.stores.accounts import account_of_row, is_open
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.revocations import promise
from app.stores.tables import accounts
from app.stores.tables_accounts import password_resets


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlResets:
    """The resets' port on the table `password_resets`."""

    database: Database

    async def ask(self, message: Message) -> None:
        """One row in the outbox, the same for every e-mail."""

        async def work(connection: AsyncConnection) -> None:
            await outbox.add(connection, message)

        await self.database.transaction(work)

    async def issue(self, email_key: str, *, digest: str, lasts: timedelta) -> Account | None:
        """The tokens that are over go on this occasion."""

        async def work(connection: AsyncConnection) -> AnyRow | None:
            found = await connection.execute(
                select(accounts).where(accounts.c.email_key == email_key, is_open())
            )
            row: AnyRow | None = found.one_or_none()
            if row is not None:
                await connection.execute(
                    delete(password_resets).where(password_resets.c.expires_at < func.now())
                )
                await connection.execute(
                    insert(password_resets).values(
                        account_id=row.id,
                        token_digest=digest,
                        password_mark=_mark(row.password_hash),
                        expires_at=func.now() + lasts,
                    )
                )
            return row

        row = await self.database.transaction(work)
        return None if row is None else account_of_row(row)

    async def holder(self, digest: str) -> Account | None:
        """One query."""
        row = await self.database.row(_good(digest))
        if row is None or row.password_mark != _mark(row.password_hash):
            return None
        return account_of_row(row)

    async def use(self, digest: str, *, new: str) -> int | None:
        """The account's row is locked first: of many uses at once, the first changes what the others look for."""

        async def work(connection: AsyncConnection) -> int | None:
            found = await connection.execute(_good(digest).with_for_update(of=accounts))
            row: AnyRow | None = found.one_or_none()
            if row is None or row.password_mark != _mark(row.password_hash):
                return None
            await connection.execute(
                update(accounts).where(accounts.c.id == row.id).values(password_hash=new)
            )
            await connection.execute(delete(password_resets).where(password_resets.c.account_id == row.id))
            await outbox.add(connection, mail_to(account_of_row(row), "password_changed"))
            return await promise(connection, row.id)

        return await self.database.transaction(work)


def _good(digest: str) -> AnySelect:
    """The account that the token is for, as long as neither has ended."""
    return (
        select(accounts, password_resets.c.password_mark)
        .select_from(accounts.join(password_resets))
        .where(password_resets.c.token_digest == digest, password_resets.c.expires_at > func.now(), is_open())
    )


def _mark(password_hash: str) -> str:
    return hashlib.sha256(password_hash.encode()).hexdigest()
