"""Import jobs in PostgreSQL: one worker each, by a lease that it renews."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from sqlalchemy import Update, and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.desk.audit import Deed
from app.shop.desk.jobs import TRIES_MOST, Claimed, Job, JobStatus
from app.shop.importing import Terms
from app.stores.database import AnyRow, Database
from app.stores.desk.audit import email_of, once, record
from app.stores.tables_desk import import_jobs

_LEASE: Final = timedelta(seconds=30)
"""Far longer than between two words of a living worker, and short enough to wait for a dead one's job."""

_SHOWN: Final = [column for column in import_jobs.c if column.name != "content"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlJobs:
    """The port of jobs, and what their workers do, on the table `import_jobs`."""

    database: Database

    async def add(self, file_name: str, content: bytes, terms: Terms, deed: Deed) -> int:
        """The file lies in the row until the job is over."""

        async def work(connection: AsyncConnection) -> int:
            await once(connection, deed)
            told = {"file_name": file_name, "currency": terms.currency, "rate": str(terms.rate)}
            job_id: int = (
                await connection.execute(
                    insert(import_jobs)
                    .values(account_id=deed.account_id, email=email_of(deed), content=content, **told)
                    .returning(import_jobs.c.id)
                )
            ).scalar_one()
            after = {**told, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            await record(connection, deed, action="catalogue.import", subject=f"import {job_id}", after=after)
            return job_id

        return await self.database.transaction(work)

    async def find(self, job_id: int) -> Job | None:
        """One query."""
        row = await self.database.row(select(*_SHOWN).where(import_jobs.c.id == job_id))
        return None if row is None else _job(row)

    async def recent(self, *, most: int) -> Sequence[Job]:
        """One query."""
        rows = await self.database.rows(select(*_SHOWN).order_by(import_jobs.c.id.desc()).limit(most))
        return [_job(row) for row in rows]

    async def claim(self) -> Claimed | None:
        """The oldest job that nobody works on, or None; of several workers each gets another one.

        One whose worker was not heard of is tried again, but not for ever.
        """
        token = secrets.token_hex(8)
        free = or_(
            import_jobs.c.status == "queued",
            and_(import_jobs.c.status == "running", import_jobs.c.lease_until < func.now()),
        )
        chosen = select(import_jobs.c.id).where(free).order_by(import_jobs.c.id).limit(1)

        async def work(connection: AsyncConnection) -> AnyRow | None:
            claimed = await connection.execute(
                update(import_jobs)
                .where(import_jobs.c.id == chosen.with_for_update(skip_locked=True).scalar_subquery())
                .values(
                    status="running",
                    token=token,
                    tries=import_jobs.c.tries + 1,
                    progress=0,
                    lease_until=func.now() + _LEASE,
                )
                .returning(import_jobs)
            )
            row: AnyRow | None = claimed.one_or_none()
            return row

        row = await self.database.transaction(work)
        if row is None:
            return None
        claimed = Claimed(
            id=row.id, token=token, file_name=row.file_name, terms=_terms(row), content=bytes(row.content)
        )
        if row.tries > TRIES_MOST:
            await self.finish(claimed, "failed")
            return None
        return claimed

    async def keep(self, claimed: Claimed, progress: float) -> bool:
        """Say how far it is and hold it longer; False when it is somebody else's by now."""
        return await self._write(_own(claimed).values(progress=progress, lease_until=func.now() + _LEASE))

    async def release(self, claimed: Claimed) -> None:
        """Give it back as it was, for another worker."""
        await self._write(
            _own(claimed).values(status="queued", token=None, progress=0, tries=import_jobs.c.tries - 1)
        )

    async def finish(
        self,
        claimed: Claimed,
        status: JobStatus,
        *,
        summary: Mapping[str, object] | None = None,
        refusals: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Keep what came of it, and the file no longer."""
        await self._write(
            _own(claimed).values(
                status=status,
                progress=1,
                content=b"",
                token=None,
                finished_at=func.now(),
                summary=summary or {},
                refusals=list(refusals),
            )
        )

    async def _write(self, statement: Update) -> bool:
        async def work(connection: AsyncConnection) -> bool:
            return (await connection.execute(statement)).rowcount > 0

        return await self.database.transaction(work)


def _own(claimed: Claimed) -> Update:
    return update(import_jobs).where(
        import_jobs.c.id == claimed.id,
        import_jobs.c.status == "running",
        import_jobs.c.token == claimed.token,
    )


def _terms(row: AnyRow) -> Terms:
    return Terms(currency=row.currency, rate=Decimal(row.rate))


def _job(row: AnyRow) -> Job:
    return Job(
        id=row.id,
        created_at=row.created_at,
        email=row.email,
        file_name=row.file_name,
        terms=_terms(row),
        status=row.status,
        progress=row.progress,
        finished_at=row.finished_at,
        summary=row.summary,
        refusals=row.refusals,
    )
