"""Profiles in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account
from app.shop.profile import Profile
from app.stores.accounts import account_of_row, is_uuid, not_erased
from app.stores.database import AnyRow, Database
from app.stores.tables import accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlProfiles:
    """The port on the table `accounts`."""

    database: Database

    async def save(self, account_id: str, profile: Profile) -> Account | None:
        """One statement."""

        async def work(connection: AsyncConnection) -> AnyRow | None:
            saved = await connection.execute(
                update(accounts)
                .where(accounts.c.id == account_id, not_erased())
                .values(name=profile.name, phone=profile.phone, language=profile.language)
                .returning(accounts)
            )
            row: AnyRow | None = saved.one_or_none()
            return row

        row = await self.database.transaction(work) if is_uuid(account_id) else None
        return None if row is None else account_of_row(row)
