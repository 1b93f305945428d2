"""Changes of e-mails in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, mail_to
from app.shop.errors import EmailTaken
from app.shop.mail import Message
from app.stores import outbox
from app.stores.accounts import account_of_row, hold, is_open, is_uuid
from app.stores.database import AnyRow, Database
from app.stores.tables import accounts
from app.stores.tables_accounts import email_changes, password_resets


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlEmailChanges:
    """The port on the table `email_changes`."""

    database: Database

    async def ask(self, account_id: str, *, email: str, key: str, lasts: timedelta, mail: Message) -> None:
        """Both rows in one transaction."""
        asked = {"email": email, "email_key": key, "token_digest": None, "expires_at": func.now() + lasts}

        async def work(connection: AsyncConnection) -> None:
            await hold(connection, account_id)
            await connection.execute(
                insert(email_changes)
                .values(account_id=account_id, **asked)
                .on_conflict_do_update(index_elements=[email_changes.c.account_id], set_=asked)
            )
            await outbox.add(connection, mail)

        await self.database.transaction(work)

    async def issue(self, account_id: str, email: str, *, digest: str) -> tuple[Account, bool] | None:
        """A second mail about the same change makes the link of the first one void."""
        if not is_uuid(account_id):
            return None

        async def work(connection: AsyncConnection) -> tuple[AnyRow, bool] | None:
            key = await connection.scalar(
                update(email_changes)
                .where(
                    email_changes.c.account_id == account_id,
                    email_changes.c.email == email,
                    email_changes.c.expires_at > func.now(),
                )
                .values(token_digest=digest)
                .returning(email_changes.c.email_key)
            )
            found = await connection.execute(select(accounts).where(accounts.c.id == account_id, is_open()))
            row: AnyRow | None = found.one_or_none()
            if key is None or row is None:
                return None
            taken = select(exists().where(accounts.c.email_key == key, accounts.c.id != account_id))
            return row, bool(await connection.scalar(taken))

        issued = await self.database.transaction(work)
        return None if issued is None else (account_of_row(issued[0]), issued[1])

    async def confirm(self, account_id: str, digest: str) -> bool:
        """The database keeps e-mail keys apart, whoever came first."""

        async def work(connection: AsyncConnection) -> bool:
            found = await connection.execute(
                select(accounts).where(accounts.c.id == account_id, is_open()).with_for_update()
            )
            before: AnyRow | None = found.one_or_none()
            changed = await connection.execute(
                delete(email_changes)
                .where(
                    email_changes.c.account_id == account_id,
                    email_changes.c.token_digest == digest,
                    email_changes.c.expires_at > func.now(),
                )
                .returning(email_changes.c.email, email_changes.c.email_key)
            )
            wanted: AnyRow | None = changed.one_or_none()
            if before is None or wanted is None:
                return False
            await self._move(connection, before, wanted)
            return True

        return await self.database.transaction(work)

    async def _move(self, connection: AsyncConnection, before: AnyRow, wanted: AnyRow) -> None:
        try:
            await connection.execute(
                update(accounts)
                .where(accounts.c.id == before.id)
                .values(email=wanted.email, email_key=wanted.email_key)
            )
        except IntegrityError as taken:
            raise EmailTaken("there is an account with this e-mail already") from taken
        # Links that went to the old address must not outlive it.
        await connection.execute(delete(password_resets).where(password_resets.c.account_id == before.id))
        told = mail_to(account_of_row(before), "email_changed")
        await outbox.add(connection, told)
