"""Behind a pooler that lends a connection per transaction, nothing of ours outlives one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, func, literal, select, text

from app.shop.catalog import ProductQuery
from app.shop.desk.audit import AuditQuery, Deed
from app.shop.errors import Unavailable
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.desk.audit import SqlAuditLog
from app.stores.imports import patient
from app.stores.sample.catalog import load_sample

LEFT = (
    "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),"
    " (SELECT count(*) FROM pg_prepared_statements),"
    " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),"
    " (SELECT count(*) FROM pg_class WHERE relpersistence = 't')"
)
NOTHING = ("0", "0", 0, 0, 0)

Behind = Callable[[DatabaseConfig], Database]


@pytest.fixture
async def left() -> list[Any]:
    """What each transaction left with the connection that it gave back."""
    return []


@pytest.fixture
async def behind(left: list[Any]) -> AsyncIterator[Behind]:
    """Databases whose connections go to somebody else after each transaction and come back as if new."""
    opened: list[Database] = []

    def behind(config: DatabaseConfig) -> Database:
        database = Database(config)
        opened.append(database)

        @event.listens_for(database.engine.sync_engine, "reset")
        def lend(connection: Any, *_: Any) -> None:
            connection.rollback()
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute(LEFT)
            left.append(tuple(cursor.fetchone()))
            cursor.execute("DISCARD ALL")
            cursor.close()
            connection.autocommit = False

        return database

    yield behind
    for database in opened:
        await database.close()


def pooled(url: str) -> str:
    return f"{url}?pooler=transaction"


async def test_a_statement_that_runs_often_is_never_prepared(
    empty_database_url: str, behind: Behind, left: list[Any]
) -> None:
    database = behind(DatabaseConfig(url=pooled(empty_database_url), pool_size=1))
    for number in range(12):
        assert (await database.rows(select(literal(number))))[0][0] == number
        assert await database.transaction(lambda connection: connection.scalar(select(literal("x")))) == "x"
    assert set(left) == {NOTHING}
    assert len(left) >= 24


async def test_every_transaction_has_its_settings_and_takes_them_along(
    empty_database_url: str, behind: Behind, left: list[Any]
) -> None:
    config = DatabaseConfig(
        url=pooled(empty_database_url), pool_size=1, statement_timeout_s=0.3, read_only=True
    )
    assert "options" not in config.connect_args()
    database = behind(config)
    shown = select(func.current_setting("TimeZone"), func.current_setting("transaction_read_only"))
    assert tuple(await database.rows(shown)) == (("UTC", "on"),)
    for work in (
        database.rows(select(func.pg_sleep(5))),
        database.transaction(lambda it: it.execute(select(func.pg_sleep(5)))),
    ):
        with pytest.raises(Unavailable):
            await work
    assert set(left) == {NOTHING}


async def test_catalogue_and_desk_work_behind_it(database_url: str, behind: Behind, left: list[Any]) -> None:
    """An import by COPY into tables of its transaction, and forms that are carried out once under a lock."""
    importing = behind(patient(pooled(database_url)))
    await load_sample(importing)
    database = behind(
        DatabaseConfig(url=pooled(database_url), pool_size=3, pool_wait_s=20, answer_within_s=30)
    )
    catalog, log = SqlCatalog(database=database), SqlAuditLog(database=database)
    for _ in range(7):
        assert (await catalog.page(ProductQuery(text="ca phe"))).total
    deed = Deed(account_id=str(uuid4()), address="127.0.0.1", nonce="n" * 22)
    await asyncio.gather(*(log.note(deed, action="a", subject="b", after={}) for _ in range(6)))
    assert (await log.page(AuditQuery())).total == 1
    await database.maintain(text("VACUUM audit"))
    assert set(left) == {NOTHING}
