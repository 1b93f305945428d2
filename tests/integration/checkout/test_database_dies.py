"""The database dies, hangs or throws everybody out in the middle of a checkout: never success without an order."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import psutil
import psycopg
import pytest
from sqlalchemy import Connection, event

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.shop.errors import KeyInProgress, ShopError, Unavailable
from app.shop.orders import Order
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from tests.conftest import free_port, running, wait_until
from tests.integration.checkout.conftest import new_till
from tests.integration.checkout.till import HeapCart, Till
from tests.integration.payments.conftest import plain


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PostgresServer, psutil.Process]]:
    """A PostgreSQL to be killed, with durable commits."""
    folder = tmp_path_factory.mktemp("fragile")
    server = PostgresServer(
        programs=Programs().find_postgres_bin(),
        data=folder / "data",
        port=free_port(),
        password=secrets.token_hex(16),
    )
    server.initialise()
    with running(server.argv(), folder / "log") as started:
        wait_until(lambda: accepts(server), within_s=60, what="PostgreSQL")
        migrate(server.url())
        with psycopg.connect(plain(server.url()), autocommit=True) as connection:
            connection.execute("INSERT INTO categories (slug, name) VALUES ('ke', 'Kệ')")
            connection.execute(
                "WITH made AS (INSERT INTO products (slug, name, description, category_id, search)"
                " SELECT 'a', 'Hàng A', '', id, '' FROM categories RETURNING id)"
                " INSERT INTO variants (sku, product_id, position, name, price, stock)"
                " SELECT 'A', id, 0, '', 1000, 10 FROM made"
            )
        yield server, postmaster(started.pid)


def postmaster(pid: int) -> psutil.Process:
    """PostgreSQL itself, which may be the child of what changed the user for it."""
    process = psutil.Process(pid)
    while process.name() != "postgres":
        (process,) = process.children()
    return process


def accepts(server: PostgresServer) -> bool:
    try:
        psycopg.connect(plain(server.url()), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
async def broken(fragile: tuple[PostgresServer, psutil.Process]) -> AsyncIterator[Till]:
    """A till that takes payment on delivery, on the database that will be killed."""
    server, _ = fragile
    await asyncio.to_thread(wait_until, lambda: accepts(server), what="PostgreSQL's recovery")
    database = Database(DatabaseConfig(url=server.url(), pool_size=3, pool_wait_s=0.5))
    with psycopg.connect(plain(server.url()), autocommit=True) as connection:
        connection.execute("TRUNCATE accounts, orders CASCADE")
        connection.execute("UPDATE variants SET stock = 10")
    till: Any = await new_till(database, None)  # type: ignore[arg-type] # nobody asks the acquirer
    yield till
    await database.close()


@contextmanager
def at_commit(database: Database, strike: Callable[[], None]) -> Iterator[None]:
    """Strikes once, when everything is flushed and the commit is about to be sent; reads send none."""
    engine = database.engine.sync_engine
    struck: list[bool] = []

    def committing(connection: Connection) -> None:
        reads = connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
        if not reads and not struck:
            struck.append(True)
            strike()

    event.listen(engine, "commit", committing)
    try:
        yield
    finally:
        event.remove(engine, "commit", committing)
    assert struck


async def until_placed(till: Till) -> Order:
    """The same request with the same key, until the database is back; no process is restarted."""
    for _ in range(400):
        try:
            return await till.buy("cod")
        except (Unavailable, KeyInProgress):
            await asyncio.sleep(0.05)
    pytest.fail("the database never came back")


def facts(server: PostgresServer) -> tuple[Any, ...]:
    with psycopg.connect(plain(server.url())) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM order_lines),"
            " (SELECT stock FROM variants WHERE sku = 'A'),"
            " (SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%')"
        ).fetchone()
    assert found is not None
    return found


async def test_a_database_killed_between_flush_and_commit_is_no_success_and_no_order(
    broken: Till, fragile: tuple[PostgresServer, psutil.Process]
) -> None:
    """`kill -9` of a backend, which takes every connection along and has PostgreSQL recover from its log."""
    server, main = fragile

    def kill() -> None:
        for child in main.children():
            with suppress(psutil.NoSuchProcess):
                child.kill()

    with at_commit(broken.database, kill), pytest.raises(Unavailable):
        await broken.buy("cod")
    await asyncio.to_thread(wait_until, lambda: accepts(server), within_s=60, what="the recovery")
    assert facts(server) == (0, 0, 10, 0)
    assert broken.cart.quantities == {"A": 2}
    order = await until_placed(broken)
    assert order.status == "confirmed"
    assert facts(server) == (1, 1, 8, 0)


async def test_connections_that_are_terminated_at_the_commit_are_no_success_and_no_order(
    broken: Till, fragile: tuple[PostgresServer, psutil.Process]
) -> None:
    server, _ = fragile

    def terminate() -> None:
        with psycopg.connect(plain(server.url()), autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = 'chopho' AND pid <> pg_backend_pid()"
            )

    with at_commit(broken.database, terminate), pytest.raises(Unavailable):
        await broken.buy("cod")
    assert facts(server) == (0, 0, 10, 0)
    assert (await until_placed(broken)).status == "confirmed"
    assert facts(server) == (1, 1, 8, 0)


async def test_after_every_connection_was_terminated_the_next_requests_are_answered(
    broken: Till, fragile: tuple[PostgresServer, psutil.Process]
) -> None:
    server, _ = fragile
    await asyncio.gather(*(broken.stock("A") for _ in range(3)))
    with psycopg.connect(plain(server.url()), autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'chopho'"
        )
    refused = 0
    for number in range(10):
        try:
            await replace(broken, cart=HeapCart({"A": 1})).buy("cod", f"key-{number}")
        except Unavailable:
            refused += 1
    assert refused <= 1
    assert facts(server)[2:] == (10 - (10 - refused), 0)


async def test_an_exhausted_pool_refuses_and_recovers_and_holds_nothing(
    broken: Till, fragile: tuple[PostgresServer, psutil.Process]
) -> None:
    """Somebody holds the variant's row; three wait for it, the others for a connection."""
    server, _ = fragile
    buyers = [replace(broken, cart=HeapCart({"A": 1})) for _ in range(30)]

    async def outcome(number: int) -> str:
        try:
            return (await buyers[number].buy("cod", f"key-{number}")).status
        except ShopError as refused:
            return type(refused).__name__

    with psycopg.connect(plain(server.url())) as slow:
        slow.execute("SELECT FROM variants FOR UPDATE")
        outcomes = await asyncio.gather(*(outcome(number) for number in range(30)))
        slow.rollback()
    assert set(outcomes) == {"Unavailable"}
    assert facts(server) == (0, 0, 10, 0)
    assert broken.database.running == 0
    assert (await until_placed(broken)).status == "confirmed"
    assert facts(server) == (1, 1, 8, 0)


async def test_callers_who_are_cancelled_leave_no_open_transaction(
    broken: Till, fragile: tuple[PostgresServer, psutil.Process]
) -> None:
    server, _ = fragile
    for number in range(40):
        buyer = replace(broken, cart=HeapCart({"A": 1}))
        buying = asyncio.create_task(buyer.buy("cod", f"key-{number}"))
        await asyncio.sleep(0.001 * (number % 12))
        buying.cancel()
        with suppress(asyncio.CancelledError, ShopError):
            await buying
    for _ in range(400):
        if not broken.database.running:
            break
        await asyncio.sleep(0.05)
    orders, lines, stock, idle = facts(server)
    assert (lines, stock, idle) == (orders, 10 - orders, 0)
    assert broken.database.running == 0
