"""Import jobs: one worker each, taken over from the dead, told of to their end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from app.resilience import Limiter, LimiterConfig
from app.shop.desk.audit import AuditQuery, Deed
from app.shop.desk.errors import AlreadyDone
from app.shop.desk.jobs import TRIES_MOST, Job
from app.shop.importing import Terms
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.desk.importer import Importer
from app.stores.desk.jobs import SqlJobs
from app.stores.imports import SqlImports
from tests.integration.stores.conftest import NewAccount

APPAREL = (Path(__file__).parents[2] / "data" / "apparel.csv").read_bytes()
DOLLARS = Terms(currency="USD", rate=Decimal(25400))
NUMBERS = count(1)


@pytest.fixture
def jobs(database: Database) -> SqlJobs:
    return SqlJobs(database=database)


@pytest.fixture
def importer(jobs: SqlJobs, database_url: str) -> Importer:
    return Importer(jobs=jobs, url=database_url, limiter=Limiter("reports", LimiterConfig(max_threads=1)))


@pytest.fixture
async def deed(new_account: NewAccount) -> Deed:
    return Deed(account_id=(await new_account()).id, address="192.0.2.7", nonce=f"form {next(NUMBERS)}")


async def one(jobs: SqlJobs, job_id: int) -> Job:
    found = await jobs.find(job_id)
    assert found is not None
    return found


async def lapse(database: Database) -> None:
    """Let every worker have been silent for too long."""
    await database.maintain(text("UPDATE import_jobs SET lease_until = now() - interval '1 second'"))


async def products(database: Database) -> int:
    return len([each async for each in SqlImports(database=database).everything()])


async def test_a_file_is_imported_and_its_job_says_what_it_brought(
    importer: Importer, jobs: SqlJobs, database: Database, deed: Deed
) -> None:
    job_id = await jobs.add("apparel.csv", APPAREL, DOLLARS, deed)
    assert (await one(jobs, job_id)).status == "queued"
    assert await importer.once()
    job = await one(jobs, job_id)
    assert (job.status, job.progress, job.is_over) == ("done", 1, True)
    assert (job.summary["added"], job.summary["rate"]) == (20, "25400")
    assert await products(database) == 20
    kept = await database.row(text("SELECT octet_length(content) FROM import_jobs"))
    assert kept == (0,), "the file is not kept longer than it is needed"
    assert not await importer.once()
    entry = (await SqlAuditLog(database=database).page(AuditQuery(subject=f"import {job_id}"))).items[0]
    assert (entry.action, entry.after["bytes"]) == ("catalogue.import", len(APPAREL))


async def test_a_refused_file_changes_nothing_and_its_lines_are_kept(
    importer: Importer, jobs: SqlJobs, database: Database, deed: Deed
) -> None:
    broken = APPAREL.replace(b"deny,manual,65", b"deny,manual,1.000", 1)
    job_id = await jobs.add("broken.csv", broken, Terms(), deed)
    await importer.once()
    job = await one(jobs, job_id)
    assert job.status == "refused"
    assert {"line": 14, "column": "Variant Price", "given": "1.000"}.items() <= job.refusals[0].items()
    assert await products(database) == 0


@pytest.mark.parametrize(
    "content", [b"\0\1\2", b"PK\x03\x04", b"a,b\n1,2\n", "Handle\n".encode("utf-16"), b"\xff" * 5000]
)
async def test_whatever_is_sent_ends_as_a_refusal(
    importer: Importer, jobs: SqlJobs, deed: Deed, content: bytes
) -> None:
    job_id = await jobs.add("x", content, Terms(), deed)
    await importer.once()
    assert (await one(jobs, job_id)).status == "refused"


async def test_of_many_workers_each_gets_a_job_of_its_own(jobs: SqlJobs, deed: Deed) -> None:
    added = [await jobs.add("a", b"x", Terms(), replace(deed, nonce=f"job {n}")) for n in range(3)]
    claimed = await asyncio.gather(*(jobs.claim() for _ in range(6)))
    assert sorted(each.id for each in claimed if each) == added
    assert claimed.count(None) == 3


async def test_a_dead_workers_job_is_taken_over_and_the_dead_one_changes_nothing_any_more(
    importer: Importer, jobs: SqlJobs, database: Database, deed: Deed
) -> None:
    job_id = await jobs.add("apparel.csv", APPAREL, DOLLARS, deed)
    dead = await jobs.claim()
    assert dead is not None
    assert await jobs.keep(dead, 0.5)
    assert (await one(jobs, job_id)).progress == 0.5
    assert not await importer.once(), "while it is heard of, it is nobody else's"
    await lapse(database)
    heir = await jobs.claim()
    assert heir is not None
    assert not await jobs.keep(dead, 0.9)
    await jobs.finish(dead, "failed")
    await jobs.release(dead)
    assert (await one(jobs, job_id)).status == "running"
    assert await jobs.keep(heir, 0.1)
    await lapse(database)
    assert await importer.once()
    assert (await one(jobs, job_id)).status == "done"


async def test_a_file_that_ends_its_workers_is_left_alone_after_some(
    jobs: SqlJobs, database: Database, deed: Deed
) -> None:
    job_id = await jobs.add("bomb.csv", b"x", Terms(), deed)
    for _ in range(TRIES_MOST):
        assert await jobs.claim() is not None
        await lapse(database)
    assert await jobs.claim() is None
    assert (await one(jobs, job_id)).status == "failed"


async def test_a_replica_that_stops_gives_its_job_back_undone(
    importer: Importer, jobs: SqlJobs, database: Database, deed: Deed
) -> None:
    head, first, *_ = APPAREL.decode("utf-8-sig").splitlines()
    rows = [first.replace("ocean-blue-shirt", f"shirt-{number}") for number in range(20_000)]
    job_id = await jobs.add("long.csv", "\n".join([head, *rows]).encode(), DOLLARS, deed)
    working = asyncio.ensure_future(importer.run())
    while (await one(jobs, job_id)).progress == 0:  # noqa: ASYNC110 -- the thread tells through the database
        await asyncio.sleep(0.1)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert (await one(jobs, job_id)).status == "queued"
    while importer.limiter.snapshot().busy:  # noqa: ASYNC110 -- nothing says when a thread has ended
        await asyncio.sleep(0.05)
    assert await products(database) == 0


async def test_the_same_form_sent_again_is_one_job(jobs: SqlJobs, deed: Deed) -> None:
    done = await asyncio.gather(
        *(jobs.add("a", b"x", Terms(), deed) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(each, AlreadyDone) for each in done) == 7
    assert len(await jobs.recent(most=20)) == 1
