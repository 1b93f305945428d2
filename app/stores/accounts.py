"""Accounts in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, Registration, Role
from app.shop.errors import EmailTaken, LoginNeeded
from app.shop.mail import Message
from app.shop.text import storable
from app.stores import outbox
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.revocations import promise
from app.stores.tables import accounts


def is_uuid(text: str) -> bool:
    """Whether the text is an id as the shop writes them; another text is the id of nothing."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAccounts:
    """The accounts' port on the table `accounts`; the database keeps e-mail keys apart."""

    database: Database

    async def add(
        self,
        registration: Registration,
        *,
        password_hash: str,
        role: Role = "customer",
        mail: Message | None = None,
    ) -> Account:
        """Of several registrations of one e-mail at once, the database lets one through."""

        async def work(connection: AsyncConnection) -> AnyRow | None:
            added = await connection.execute(
                insert(accounts)
                .values(
                    id=str(uuid4()),
                    email=registration.email,
                    email_key=registration.email_key,
                    name=registration.name,
                    role=role,
                    password_hash=password_hash,
                    language=registration.language,
                )
                .on_conflict_do_nothing(index_elements=[accounts.c.email_key])
                .returning(accounts)
            )
            row: AnyRow | None = added.one_or_none()
            if row is not None and mail is not None:
                await outbox.add(connection, mail)
            return row

        row = await self.database.transaction(work)
        if row is None:
            raise EmailTaken("there is an account with this e-mail already")
        return account_of_row(row)

    async def by_id(self, account_id: str) -> Account | None:
        """One query."""
        if not is_uuid(account_id):
            return None
        row = await self.database.row(select(accounts).where(accounts.c.id == account_id, not_erased()))
        return None if row is None else account_of_row(row)

    async def credentials(self, email_key: str) -> tuple[Account, str] | None:
        """One query."""
        if not storable(email_key):
            return None
        row = await self.database.row(select(accounts).where(accounts.c.email_key == email_key, not_erased()))
        return None if row is None else (account_of_row(row), row.password_hash)

    async def rehash(self, account_id: str, *, old: str, new: str) -> None:
        """Compare and set: a password that was changed meanwhile stays changed."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(
                update(accounts)
                .where(accounts.c.id == account_id, accounts.c.password_hash == old)
                .values(password_hash=new)
            )

        await self.database.transaction(work)

    async def change_password(self, account_id: str, *, old: str, new: str, mail: Message) -> int | None:
        """All rows in one transaction; of two changes at once the second finds another hash."""

        async def work(connection: AsyncConnection) -> int | None:
            changed = await connection.execute(
                update(accounts)
                .where(accounts.c.id == account_id, accounts.c.password_hash == old)
                .values(password_hash=new)
            )
            if not changed.rowcount:
                return None
            await outbox.add(connection, mail)
            return await promise(connection, account_id)

        return await self.database.transaction(work)


def not_erased() -> ColumnElement[bool]:
    """Of accounts that are somebody's."""
    return accounts.c.erased_at.is_(None)


def held(account_id: str) -> AnySelect:
    """The account's id, if it is somebody's and stays it until the transaction ends: who erases it waits."""
    return (
        select(accounts.c.id)
        .where(accounts.c.id == account_id, not_erased())
        .with_for_update(read=True, key_share=True)
    )


async def hold(connection: AsyncConnection, account_id: str) -> None:
    """Raise `LoginNeeded` for an account that is nobody's any more: nothing new is written about them."""
    if await connection.scalar(held(account_id)) is None:
        raise LoginNeeded("the account is gone")


def is_open() -> ColumnElement[bool]:
    """Of accounts that somebody may use."""
    return and_(not_erased(), accounts.c.locked_at.is_(None))


def account_of_row(row: AnyRow) -> Account:
    """The account of a whole row of the table."""
    return Account(
        id=row.id,
        email=row.email,
        name=row.name,
        role=row.role,
        created_at=row.created_at,
        language=row.language,
        phone=row.phone,
        locked_at=row.locked_at,
    )
