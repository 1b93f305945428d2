"""The audit log in PostgreSQL."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.desk.audit import AuditEntry, AuditQuery, Deed
from app.shop.desk.errors import AlreadyDone
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.stores.database import AnyRow, Database
from app.stores.tables import accounts
from app.stores.tables_desk import audit

_AGAIN: Final = timedelta(minutes=1)
"""So long a form may carry out what its entry says: what broke it off is over by then, and later others went on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAuditLog:
    """The log's port on the table `audit`."""

    database: Database

    async def page(self, query: AuditQuery) -> Page[AuditEntry]:
        """One query for the page, another for the total."""
        offset = offset_of(query.page, query.page_size)
        if not all(map(storable, (query.subject, query.action, query.email))):
            return Page(items=[], total=0, page=query.page, page_size=query.page_size)
        asked = _asked(query)
        counted = await self.database.row(select(func.count()).select_from(audit).where(*asked))
        rows = await self.database.rows(
            select(audit).where(*asked).order_by(audit.c.id.desc()).limit(query.page_size).offset(offset)
        )
        return Page(
            items=[_entry(row) for row in rows],
            total=counted[0] if counted else 0,
            page=query.page,
            page_size=query.page_size,
        )

    async def note(self, deed: Deed, *, action: str, subject: str, after: Mapping[str, object]) -> None:
        """A transaction of its own: what it tells of happens elsewhere, or in another one."""

        async def work(connection: AsyncConnection) -> None:
            try:
                await once(connection, deed)
            except AlreadyDone as done:
                of_now = select(audit.c.after).where(_by(deed), audit.c.at > func.now() - _AGAIN)
                kept = await connection.scalar(of_now)
                if (done.action, done.subject, kept) != (action, subject, dict(after)):
                    raise
            else:
                await record(connection, deed, action=action, subject=subject, after=after)

        await self.database.transaction(work)


async def once(connection: AsyncConnection, deed: Deed) -> None:
    """Be the only one who carries out this form until the transaction ends; raises `AlreadyDone`."""
    name = f"desk {deed.account_id} {deed.nonce}".encode()
    number = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)
    await connection.execute(select(func.pg_advisory_xact_lock(number)))
    own = select(audit.c.action, audit.c.subject).where(_by(deed))
    done = (await connection.execute(own)).one_or_none()
    if done is not None:
        raise AlreadyDone(action=done.action, subject=done.subject)


def _by(deed: Deed) -> ColumnElement[bool]:
    return and_(audit.c.account_id == deed.account_id, audit.c.nonce == deed.nonce)


async def record(
    connection: AsyncConnection,
    deed: Deed,
    *,
    action: str,
    subject: str,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Write the entry of a change, in the change's own transaction."""
    await connection.execute(
        insert(audit).values(
            account_id=deed.account_id,
            email=email_of(deed),
            address=deed.address,
            nonce=deed.nonce,
            action=action,
            subject=subject,
            before=before or {},
            after=after or {},
        )
    )


def email_of(deed: Deed) -> ColumnElement[str]:
    """The actor's e-mail, as it is now."""
    return func.coalesce(
        select(accounts.c.email).where(accounts.c.id == deed.account_id).scalar_subquery(), ""
    )


def _asked(query: AuditQuery) -> Sequence[ColumnElement[bool]]:
    asked: list[ColumnElement[bool]] = []
    if query.subject:
        asked.append(audit.c.subject.contains(query.subject, autoescape=True))
    if query.action:
        asked.append(audit.c.action == query.action)
    if query.email:
        asked.append(audit.c.email == query.email)
    return asked


def _entry(row: AnyRow) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        at=row.at,
        account_id=row.account_id,
        email=row.email,
        address=row.address,
        action=row.action,
        subject=row.subject,
        before=row.before,
        after=row.after,
    )
