"""The compartments of the real thing: every pool is listed, and saturation shows where no error does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis.asyncio
from sqlalchemy import text

from app.fleet.state import write_privately
from app.fleet.topology import SERVICES
from app.identity import new_key
from app.observability.compartments import row
from app.observability.sources import database_pool, redis_pool
from app.settings import Settings, read
from app.stores.database import Database, DatabaseConfig
from app.wiring import build
from tests.breakers import BREAKERS
from tests.conftest import free_port


@asynccontextmanager
async def database_of(url: str, pool_size: int) -> AsyncIterator[Database]:
    database = Database(DatabaseConfig(url=url, pool_size=pool_size, pool_wait_s=10))
    try:
        yield database
    finally:
        await database.close()


async def test_a_database_pool_that_is_full_shows_it_while_nothing_fails(empty_database_url: str) -> None:
    async with database_of(empty_database_url, 2) as database:
        compartment = database_pool("database", database, shared_by=["pages"], dies="pages")
        await asyncio.gather(*(database.rows(text("SELECT 1")) for _ in range(2)))  # connects
        slow = [asyncio.create_task(database.rows(text("SELECT pg_sleep(0.5)"))) for _ in range(6)]
        while compartment.usage().in_use < 2 or compartment.usage().waiting < 4:  # noqa: ASYNC110 -- we look on
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

        full = row(compartment, compartment.usage())
        await asyncio.gather(*slow)  # all succeed, only later
        idle = row(compartment, compartment.usage())

    assert (full["in_use"], full["size"], full["waiting"]) == (2, 2, 4)
    assert (full["predicted_wait_s"] or 0) >= 3 * 0.2  # three rounds of what was seen so far
    assert (idle["in_use"], idle["waiting"], idle["predicted_wait_s"]) == (0, 0, 0)
    assert 0.3 < (idle["holding_s"] or 0) < 5
    assert (idle["needed_when_100_times_slower"] or 0) > 2


async def test_a_redis_pool_shows_the_connections_in_use(redis_url: str) -> None:
    pool = redis.asyncio.ConnectionPool.from_url(redis_url, max_connections=3)
    compartment = redis_pool("cache", pool, shared_by=["pages"], dies="nothing")
    held = [await pool.get_connection() for _ in range(2)]  # type: ignore[no-untyped-call]  # redis-py left it untyped
    assert (compartment.usage().in_use, compartment.size) == (2, 3)
    for connection in held:
        await pool.release(connection)
    assert compartment.usage().in_use == 0
    await pool.disconnect()


async def test_a_call_that_makes_its_connection_waits_for_nobody(empty_database_url: str) -> None:
    async with database_of(empty_database_url, 2) as database:
        compartment = database_pool("database", database, shared_by=["pages"], dies="pages")
        first = asyncio.create_task(database.rows(text("SELECT 1")))
        await asyncio.sleep(0)
        connecting = compartment.usage()
        await first
    assert (connecting.in_use, connecting.waiting) == (1, 0)


async def test_reports_that_fill_their_pool_delay_no_page(redis_url: str, empty_database_url: str) -> None:
    parts = build(settings(redis_url, empty_database_url))
    async with parts.running():
        reports = [asyncio.create_task(parts.background.rows(text("SELECT pg_sleep(1)"))) for _ in range(6)]
        listed = {each.name: each for each in parts.observability.compartments}
        while listed["background database"].usage().waiting < 4:  # noqa: ASYNC110 -- we look on
            await asyncio.sleep(0.01)
        async with asyncio.timeout(2):  # the reports take three seconds
            await parts.database.rows(text("SELECT 1"))
        assert listed["background database"].usage().in_use == 2
        assert listed["database"].usage().waiting == 0
        for report in reports:
            report.cancel()


async def test_every_finite_resource_of_a_replica_is_listed(
    redis_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    key = tmp_path / "identity.key"
    write_privately(key, new_key().decode())
    urls = {f"{name.upper()}_URL": f"http://127.0.0.1:{free_port()}" for name in SERVICES}
    parts = build(settings(redis_url, empty_database_url, IDENTITY_KEY=str(key), **urls))
    rows = {each["name"]: each for each in parts.observability.compartments.rows()}

    assert set(rows) == {
        "event loop",
        "database",
        "log-in database",
        "background database",
        "session store",
        "attempts Redis",
        "control Redis",
        "rates Redis",
        "hashing",
        "reports",
        "images",
        "cache",
        "cache Redis",
        *SERVICES,
        *(f"{name} connections" for name in SERVICES),
        *(
            f"gateway.{name}{what}"
            for name in ("reviews", "recommendations", "inventory")
            for what in ("", " connections")
        ),
    }
    assert all(each["shared_by"] and each["dies"] for each in rows.values())
    assert [breaker.name for breaker in parts.observability.resilience.breakers()] == list(BREAKERS)
    async with parts.running():
        states = parts.observability.components.states
        await _until(lambda: all(states()[name] == "down" for name in SERVICES) and states()["cache"] == "up")


async def test_a_replica_without_an_acquirer_starts(redis_url: str, empty_database_url: str) -> None:
    parts = build(settings(redis_url, empty_database_url))
    assert parts.downstream.payments is None
    async with parts.running():
        pass


@pytest.mark.parametrize("key", ["missing", "open to all"])
def test_a_key_that_cannot_be_used_is_named(redis_url: str, tmp_path: Path, key: str) -> None:
    file = tmp_path / "identity.key"
    if key != "missing":
        file.write_bytes(new_key())
        file.chmod(0o644)
    payments = {"PAYMENTS_URL": "http://127.0.0.1:1", "IDENTITY_KEY": str(file)}
    with pytest.raises(ValueError, match=r"^CHOPHO_IDENTITY_KEY cannot be used: .*identity\.key"):
        build(settings(redis_url, "postgresql+psycopg://u@127.0.0.1:1/none", **payments))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 -- nobody tells, so we look
            await asyncio.sleep(0.01)


def settings(redis_url: str, database_url: str, **more: str) -> Settings:
    given = {
        "DATABASE_URL": database_url,
        "SESSION_URL": redis_url,
        "REDIS_URL": redis_url,
        "SECRET_KEYS": "a key of the tests that is long enough to sign with",
        "PUBLIC_URL": "http://chopho.example",
        **more,
    }
    return read(Settings, {f"CHOPHO_{name}": value for name, value in given.items()})
