"""Accounts from PostgreSQL, and their sessions from the session layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select

from app.sessions import Sessions
from app.shop.accounts import Account
from app.shop.desk.people import Whereabouts
from app.shop.paging import Page, offset_of
from app.shop.revocations import user_of
from app.shop.text import storable
from app.stores.accounts import account_of_row, not_erased
from app.stores.database import Database
from app.stores.revocations import unavailable
from app.stores.tables import accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAccountBook:
    """The port of all accounts on the table `accounts`."""

    database: Database

    async def page(self, text: str, *, page: int, page_size: int) -> Page[Account]:
        """One query for the page, another for the total; a walk through the table, which only owners ask for."""
        offset = offset_of(page, page_size)
        if not storable(text):
            return Page(items=[], total=0, page=page, page_size=page_size)
        asked = [
            not_erased(),
            or_(
                accounts.c.email_key.contains(text.casefold(), autoescape=True),
                accounts.c.name.icontains(text, autoescape=True),
            ),
        ]
        counted = await self.database.row(select(func.count()).select_from(accounts).where(*asked))
        rows = await self.database.rows(
            select(accounts)
            .where(*asked)
            .order_by(accounts.c.created_at.desc(), accounts.c.id)
            .limit(page_size)
            .offset(offset)
        )
        total = counted[0] if counted else 0
        return Page(items=[account_of_row(row) for row in rows], total=total, page=page, page_size=page_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSessions:
    """The port of anybody's sessions on the session layer."""

    sessions: Sessions

    async def of(self, account_id: str) -> Sequence[Whereabouts]:
        """One round trip for each store of sessions."""
        with unavailable():
            found = await self.sessions.devices(user_of(account_id))
        return [
            Whereabouts(
                handle=each.handle,
                device=each.device,
                address=each.ip,
                created_at=each.created_at,
                last_seen_at=each.last_seen_at,
            )
            for each in found
        ]

    async def end_one(self, account_id: str, handle: str) -> str | None:
        """One round trip for each store of sessions."""
        with unavailable():
            return handle if await self.sessions.end_one(user_of(account_id), handle) else None

    async def end_all(self, account_id: str) -> int:
        """One round trip for each store of sessions."""
        with unavailable():
            return await self.sessions.end_all(user_of(account_id))
