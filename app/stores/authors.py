"""Erased accounts whose reviews may still carry their name, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.stores.database import Database
from app.stores.tables import accounts

_FLIGHT: Final = timedelta(seconds=15)
"""Longer than any request may take: a review that was being written when the account was erased is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlErasedAuthors:
    """The port of erased authors. The erasure itself is the promise: `erased_at` without `author_forgotten_at`."""

    database: Database

    async def due(self, *, most: int) -> Sequence[str]:
        """One query on an index that is nearly always empty."""
        rows = await self.database.rows(
            select(accounts.c.id)
            .where(
                accounts.c.erased_at.is_not(None),
                accounts.c.author_forgotten_at.is_(None),
                accounts.c.erased_at < func.now() - _FLIGHT,
            )
            .order_by(accounts.c.erased_at)
            .limit(most)
        )
        return [row.id for row in rows]

    async def forgotten(self, account_id: str) -> None:
        """The first who says so dates it."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(
                update(accounts)
                .where(accounts.c.id == account_id, accounts.c.author_forgotten_at.is_(None))
                .values(author_forgotten_at=func.now())
            )

        await self.database.transaction(work)
