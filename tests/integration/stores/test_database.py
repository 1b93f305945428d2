"""The database may be slow, full, restarted or hung: a short answer, and nothing left behind."""

from __future__ import annotations

import asyncio
import secrets
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil
import psycopg
import pytest
from sqlalchemy import func, literal, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.shop.errors import Unavailable
from app.stores.database import Contended, Database, DatabaseConfig
from tests.conftest import free_port, listening, running, wait_until

ONE = select(literal(1))
OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@asynccontextmanager
async def opened(config: DatabaseConfig) -> AsyncIterator[Database]:
    database = Database(config)
    yield database
    await database.close()


@contextmanager
def outside(url: str) -> Iterator[psycopg.Connection[Any]]:
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        yield connection


def count(connection: psycopg.Connection[Any], query: str) -> int:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


async def sleep_in_sql(connection: AsyncConnection) -> None:
    await connection.execute(select(func.pg_sleep(30)))


async def test_a_full_pool_is_waited_for_shortly_and_then_unavailable(empty_database_url: str) -> None:
    config = DatabaseConfig(url=empty_database_url, pool_size=2, pool_wait_s=0.2, statement_timeout_s=5)
    async with opened(config) as database:
        busy = [asyncio.create_task(database.rows(select(func.pg_sleep(1.5)))) for _ in range(2)]
        await asyncio.sleep(0.2)
        late = await asyncio.gather(*(database.rows(ONE) for _ in range(50)), return_exceptions=True)
        assert {type(each) for each in late} == {Unavailable}
        await asyncio.gather(*busy)
        assert await database.row(ONE) is not None


async def test_a_slow_statement_is_ended_by_the_server(empty_database_url: str) -> None:
    config = DatabaseConfig(url=empty_database_url, statement_timeout_s=0.2)
    async with opened(config) as database:
        with pytest.raises(Unavailable):
            await database.transaction(sleep_in_sql)
        with outside(empty_database_url) as admin:
            assert count(admin, f"SELECT count(*) {OTHERS} AND state <> 'idle'") == 0


async def test_requests_that_leave_let_no_transaction_stay_open(empty_database_url: str) -> None:
    config = DatabaseConfig(url=empty_database_url, pool_size=5, pool_wait_s=5, answer_within_s=10)
    with outside(empty_database_url) as admin:
        admin.execute("CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)")
        async with opened(config) as database:

            async def add(connection: AsyncConnection) -> None:
                await connection.execute(text("UPDATE counter SET n = n + 1"))
                await connection.execute(select(func.pg_sleep(0.005)))

            async def left_early(after_s: float) -> None:
                async with asyncio.timeout(after_s):
                    await database.transaction(add)

            await asyncio.gather(*(database.rows(select(func.pg_sleep(0.1))) for _ in range(5)))
            await asyncio.gather(*(left_early(n / 60) for n in range(100)), return_exceptions=True)
            for _ in range(200):
                if count(admin, f"SELECT count(*) {OTHERS} AND state <> 'idle'") == 0:
                    break
                await asyncio.sleep(0.02)
            assert count(admin, f"SELECT count(*) {OTHERS} AND state <> 'idle'") == 0
            before = count(admin, "SELECT n FROM counter")
            await asyncio.gather(*(database.transaction(add) for _ in range(20)))
            assert count(admin, "SELECT n FROM counter") == before + 20
            assert count(admin, f"SELECT count(*) {OTHERS}") <= 5


async def test_connections_that_were_ended_cost_no_request(empty_database_url: str) -> None:
    config = DatabaseConfig(url=empty_database_url, pool_size=5, pool_wait_s=20, answer_within_s=30)
    async with opened(config) as database:
        await asyncio.gather(*(database.rows(select(func.pg_sleep(0.1))) for _ in range(5)))
        with outside(empty_database_url) as admin:
            assert count(admin, f"SELECT count(pg_terminate_backend(pid)) {OTHERS}") == 5
        await asyncio.gather(*(database.rows(ONE) for _ in range(50)))


async def test_a_connection_that_ends_inside_a_transaction_is_unavailable_and_undone(
    empty_database_url: str,
) -> None:
    with outside(empty_database_url) as admin:
        admin.execute("CREATE TABLE counter (n int)")
        async with opened(DatabaseConfig(url=empty_database_url)) as database:

            async def killed(connection: AsyncConnection) -> None:
                await connection.execute(text("INSERT INTO counter VALUES (1)"))
                admin.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}".encode())
                await connection.execute(ONE)

            with pytest.raises(Unavailable):
                await database.transaction(killed)
            assert (await database.rows(text("SELECT * FROM counter"))) == []


async def test_a_deadlock_is_tried_again(empty_database_url: str) -> None:
    with outside(empty_database_url) as admin:
        admin.execute("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0)")
    config = DatabaseConfig(url=empty_database_url, lock_timeout_s=5, answer_within_s=20)
    async with opened(config) as database:
        both = asyncio.Barrier(2)
        tries: list[int] = []
        add = text("UPDATE t SET n = n + 1 WHERE id = :id")

        def crossing(first: int, second: int) -> Any:
            async def work(connection: AsyncConnection) -> None:
                tries.append(first)
                await connection.execute(add, {"id": first})
                if len(tries) <= 2:
                    await both.wait()
                await connection.execute(add, {"id": second})

            return work

        await asyncio.gather(database.transaction(crossing(1, 2)), database.transaction(crossing(2, 1)))
        assert len(tries) == 3
        assert [row.n for row in await database.rows(text("SELECT n FROM t"))] == [2, 2]


async def test_trying_again_has_an_end(empty_database_url: str) -> None:
    tries = []

    async def always(connection: AsyncConnection) -> None:
        tries.append(1)
        await connection.execute(text("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"))

    async with opened(DatabaseConfig(url=empty_database_url)) as database:
        with pytest.raises(Contended):
            await database.transaction(always)
    assert len(tries) == 4


async def test_times_are_in_utc(empty_database_url: str) -> None:
    async with opened(DatabaseConfig(url=empty_database_url)) as database:
        row = await database.row(text("SELECT current_setting('TimeZone'), now() AS now"))
        assert row is not None
        assert row[0] == "UTC"
        assert row.now.utcoffset().total_seconds() == 0


async def test_our_own_mistakes_are_not_called_unavailable(empty_database_url: str) -> None:
    async with opened(DatabaseConfig(url=empty_database_url)) as database:
        with pytest.raises(Exception, match="division by zero"):
            await database.rows(text("SELECT 1 / 0"))


async def test_a_database_that_was_not_migrated_is_unavailable_and_the_log_says_what_to_do(
    empty_database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(DatabaseConfig(url=empty_database_url)) as database:
        with pytest.raises(Unavailable):
            await database.rows(text("SELECT * FROM accounts"))
    assert "run chopho migrate" in caplog.text


@dataclass
class Own:
    """A PostgreSQL of one test, which may break it."""

    server: PostgresServer
    log: Path
    process: Popen[bytes] | None = None

    @contextmanager
    def up(self) -> Iterator[None]:
        with running(self.server.argv("-c", "fsync=off"), self.log) as self.process:
            wait_until(lambda: listening(self.server.port) and self._answers(), what="PostgreSQL")
            try:
                yield
            finally:
                self.process.send_signal(signal.SIGINT)  # PostgreSQL's word for not waiting for clients
                self.process.wait(20)

    def _answers(self) -> bool:
        try:
            with outside(self.server.url()):
                return True
        except psycopg.OperationalError:
            return False

    def signal(self, what: signal.Signals) -> None:
        """To the server and everything it started."""
        assert self.process is not None
        server = psutil.Process(self.process.pid)
        for process in [server, *server.children(recursive=True)]:
            process.send_signal(what)


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    folder = tmp_path_factory.mktemp("own")
    server = PostgresServer(
        programs=Programs().find_postgres_bin(),
        data=folder / "data",
        port=free_port(),
        password=secrets.token_hex(16),
    )
    server.initialise()
    return Own(server=server, log=folder / "log")


async def test_a_restart_costs_at_most_one_request(own: Own) -> None:
    async with opened(DatabaseConfig(url=own.server.url(), pool_size=5)) as database:
        with own.up():
            await asyncio.gather(*(database.rows(select(func.pg_sleep(0.1))) for _ in range(5)))
        with pytest.raises(Unavailable):
            await database.rows(ONE)
        with own.up():
            answers = [await _kind(database) for _ in range(50)]
            assert answers.count("Unavailable") <= 1


async def _kind(database: Database) -> str:
    try:
        await database.rows(ONE)
    except Unavailable:
        return "Unavailable"
    return "answered"


async def test_a_hung_database_is_unavailable_in_time_and_recovers_by_itself(own: Own) -> None:
    config = DatabaseConfig(url=own.server.url(), pool_size=3)
    async with opened(replace(config, answer_within_s=0.5)) as database:
        with own.up():
            await asyncio.gather(*(database.rows(select(func.pg_sleep(0.1))) for _ in range(3)))
            own.signal(signal.SIGSTOP)
            try:
                began = time.monotonic()
                kinds = await asyncio.gather(*(_kind(database) for _ in range(20)))
                assert set(kinds) == {"Unavailable"}
                assert time.monotonic() - began < 5  # of a hang without end
            finally:
                own.signal(signal.SIGCONT)
            for _ in range(100):
                if await _kind(database) == "answered":
                    break
                await asyncio.sleep(0.05)
            assert [await _kind(database) for _ in range(20)] == ["answered"] * 20
            with outside(own.server.url()) as admin:
                assert count(admin, f"SELECT count(*) {OTHERS} AND state LIKE 'idle in%'") == 0


async def test_a_connection_to_what_became_a_standby_is_not_kept(empty_database_url: str) -> None:
    insert_1, insert_2 = text("INSERT INTO things VALUES (1)"), text("INSERT INTO things VALUES (2)")
    async with opened(DatabaseConfig(url=empty_database_url, pool_size=1)) as database:
        await database.transaction(
            lambda connection: connection.execute(text("CREATE TABLE things (id int)"))
        )
        # The one connection of the pool now refuses writes, as a primary does that was demoted under it.
        await database.maintain(text("SET default_transaction_read_only = on"))
        with pytest.raises(Unavailable):
            await database.transaction(lambda connection: connection.execute(insert_1))
        await database.transaction(lambda connection: connection.execute(insert_2))
        assert [row.id for row in await database.rows(text("SELECT id FROM things"))] == [2]
