"""A session store that was restarted, failed over or emptied learns again whom the shop has logged out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from app.sessions import SessionConfig, Sessions, StoreUnavailable
from app.sessions.records import Draft, Ended, Record
from app.shop.accounts import Account, mail_to
from app.shop.revocations import EndSession, EndSessions, user_of
from app.stores.accounts import SqlAccounts
from app.stores.database import Database, DatabaseConfig
from app.stores.revocations import Replay, SqlRevocations
from tests.conftest import wait_until
from tests.integration.stores.conftest import NewAccount
from tests.redis_servers import OwnRedis, own_redis, redis_with_sentinel

KEYS = ["a key of the tests that is long enough to sign with"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnRedis]:
    with own_redis(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def revocations(database: Database) -> SqlRevocations:
    return SqlRevocations(database=database)


@asynccontextmanager
async def replica(url: str, revocations: SqlRevocations) -> AsyncIterator[Replay]:
    """What one replica does."""
    sessions = Sessions.from_url(
        url, keys=KEYS, config=SessionConfig(namespace="test", timeout=timedelta(seconds=2))
    )
    await sessions.open()
    yield Replay(sessions=sessions, revocations=revocations)
    await sessions.close()


async def logged_in(replay: Replay, account: Account) -> str:
    """A new session of the account; its ticket."""
    return (await replay.sessions.primary.create(Draft(fields={}, user=user_of(account.id)))).ticket


async def lives(replay: Replay, ticket: str) -> bool:
    return isinstance(await replay.sessions.primary.load(ticket), Record)


async def end_all(replay: Replay, account: Account) -> None:
    async def end() -> int:
        return await replay.sessions.end_all(user_of(account.id))

    await EndSessions(revocations=replay.revocations)(account.id, end)


def copied(server: OwnRedis) -> list[tuple[bytes, int, bytes]]:
    """Everything in the server, as a back-up has it."""
    return [
        (key, server.command("PTTL", key), server.command("DUMP", key)) for key in server.command("KEYS", "*")
    ]


def restored(server: OwnRedis, back_up: list[tuple[bytes, int, bytes]]) -> None:
    for key, ttl, value in back_up:
        server.command("RESTORE", key, ttl, value)


@pytest.mark.parametrize("prefix", ["", "jwt+"], ids=["redis", "jwt"])
async def test_a_server_that_was_set_back_learns_again_who_was_logged_out(
    server: OwnRedis, revocations: SqlRevocations, new_account: NewAccount, prefix: str
) -> None:
    ended, other = await new_account(), await new_account()
    async with replica(prefix + server.url, revocations) as replay:
        await replay.once()
        stolen, kept = await logged_in(replay, ended), await logged_in(replay, other)
        back_up = copied(server)
        await end_all(replay, ended)
        afterwards = await logged_in(replay, ended)
        server.command("FLUSHALL")
        restored(server, [entry for entry in back_up if b":memory" not in entry[0]])
        assert await lives(replay, stolen)
        await replay.once()
        assert not await lives(replay, stolen)
        assert await lives(replay, kept)
        # What began after the revocation was lost with the server, and only with it.
        assert await lives(replay, afterwards) == bool(prefix)


@pytest.mark.parametrize("prefix", ["", "jwt+"], ids=["redis", "jwt"])
async def test_one_session_that_was_ended_stays_so_on_a_server_that_was_set_back(
    server: OwnRedis, revocations: SqlRevocations, new_account: NewAccount, prefix: str
) -> None:
    account = await new_account()
    async with replica(prefix + server.url, revocations) as replay:
        await replay.once()
        stolen, kept = await logged_in(replay, account), await logged_in(replay, account)
        back_up = copied(server)
        handle, end_session = replay.sessions.primary.handle(stolen), EndSession(revocations=revocations)

        async def end() -> str | None:
            return handle if await replay.sessions.end_one(user_of(account.id), handle) else None

        assert [await end_session(end) for _ in range(2)] == [True, False]
        await end_session(lambda: answer(handle))  # the same end again is the same row
        server.command("FLUSHALL")
        if not prefix:
            restored(server, back_up)
            server.command("DEL", "test:memory")
        assert await lives(replay, stolen)
        await replay.once()
        assert not await lives(replay, stolen)
        assert await lives(replay, kept)


async def test_ends_that_can_matter_to_no_session_are_forgotten_and_promises_are_kept(
    server: OwnRedis,
    revocations: SqlRevocations,
    accounts: SqlAccounts,
    database: Database,
    new_account: NewAccount,
) -> None:
    account = await new_account()
    async with replica(server.url, revocations) as replay:
        mail = mail_to(account, "password_changed")
        await accounts.change_password(account.id, old="no hash", new="another", mail=mail)
        for age in (timedelta(days=1), timedelta(hours=1)):
            await end_all(replay, account)
            await revocations.keep_one(f"ended {age} ago")

            async def grown_old(connection: Any, age: timedelta = age) -> None:
                for change in (
                    "revocations SET asked_at = asked_at - :age",
                    "revocations SET epoch = epoch - 1000 * extract(epoch FROM :age)",
                    "ended_sessions SET ended_at = ended_at - :age",
                ):
                    await connection.execute(text(f"UPDATE {change}").bindparams(age=age))

            await database.transaction(grown_old)
        await revocations.prune(replay.within)
        assert await revocations.recent_ones(timedelta(days=9)) == ["ended 1:00:00 ago"]
        assert len(await revocations.recent(timedelta(days=9))) == 1
        assert len(await revocations.unsettled()) == 1
        await revocations.prune(timedelta(0))
        assert await revocations.recent(timedelta(days=9)) == {}
        assert len(await revocations.unsettled()) == 1


async def test_a_session_ends_also_while_its_end_cannot_be_kept(caplog: pytest.LogCaptureFixture) -> None:
    away = SqlRevocations(
        database=Database(DatabaseConfig(url="postgresql+psycopg://x@127.0.0.1:1/x", pool_wait_s=1))
    )
    assert await EndSession(revocations=away)(lambda: answer("handle"))
    await away.database.close()
    assert "kept in the session store alone" in caplog.text


async def answer(handle: str) -> str | None:
    """An end of that session."""
    return handle


async def test_a_server_that_restarts_from_an_older_state_learns_it_within_one_look(
    server: OwnRedis, revocations: SqlRevocations, new_account: NewAccount
) -> None:
    account = await new_account()
    async with replica(server.url, revocations) as replay, replica(server.url, revocations) as fellow:
        for one in (replay, fellow):
            await one.once()
        stolen = await logged_in(replay, account)
        back_up = copied(server)
        await end_all(replay, account)
        server.restart()
        server.command("FLUSHALL")
        restored(server, back_up)  # with the mark: only the connection tells
        await fellow.once()
        assert not await lives(replay, stolen)


async def test_a_failover_that_lost_a_revocation_is_made_good(
    tmp_path: Path, revocations: SqlRevocations, new_account: NewAccount
) -> None:
    account = await new_account()
    with redis_with_sentinel(tmp_path) as (url, master, standby):
        async with replica(url, revocations) as replay:
            await replay.once()
            stolen = await logged_in(replay, account)
            arrived = lambda: bool(standby.command("KEYS", "*:sessions:*"))  # noqa: E731 -- read once, here
            await asyncio.to_thread(wait_until, arrived, what="the standby")
            standby.freeze()
            await end_all(replay, account)
            master.stop()
            standby.thaw()
            for _ in range(400):
                try:
                    await replay.once()
                    break
                except StoreUnavailable:  # until the sentinel has decided
                    await asyncio.sleep(0.05)
            assert not await lives(replay, stolen)


async def test_what_was_promised_with_a_password_is_kept_by_whoever_looks_next(
    server: OwnRedis,
    revocations: SqlRevocations,
    accounts: SqlAccounts,
    database: Database,
    new_account: NewAccount,
) -> None:
    account = await new_account()
    async with replica(server.url, revocations) as replay, replica(server.url, revocations) as fellow:
        stolen = await logged_in(replay, account)
        mail = mail_to(account, "password_changed")
        assert await accounts.change_password(account.id, old="no hash", new="another", mail=mail) is not None
        await fellow.once()
        assert await lives(replay, stolen), "whoever changed it is still about to do it"

        async def long_ago(connection: Any) -> None:
            await connection.execute(text("UPDATE revocations SET asked_at = asked_at - interval '1 minute'"))

        await database.transaction(long_ago)
        await asyncio.gather(replay.once(), fellow.once())
        assert not await lives(replay, stolen)
        assert await revocations.unsettled() == []
        afterwards = await logged_in(replay, account)
        await fellow.once()
        assert await lives(replay, afterwards)


async def test_a_password_that_changed_meanwhile_is_not_changed_and_promises_nothing(
    accounts: SqlAccounts, new_account: NewAccount, database_url: str
) -> None:
    account = await new_account()
    mail = mail_to(account, "password_changed")
    changes = [
        accounts.change_password(account.id, old="no hash", new=f"hash {n}", mail=mail) for n in range(5)
    ]
    outcomes = await asyncio.gather(*changes)
    assert sum(outcome is not None for outcome in outcomes) == 1
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT count(*) FROM revocations").fetchone() == (1,)
        assert connection.execute("SELECT kind, recipient FROM outbox").fetchall() == [
            ("password_changed", account.email)
        ]


async def test_while_either_side_is_away_the_loop_waits_and_then_goes_on(
    server: OwnRedis, revocations: SqlRevocations, new_account: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.stores.revocations._EVERY_S", 0.05)
    account = await new_account()
    async with replica(server.url, revocations) as replay:
        stolen = await logged_in(replay, account)
        back_up = copied(server)
        await end_all(replay, account)
        server.stop()
        running = asyncio.create_task(replay.run())
        await asyncio.sleep(0.3)
        assert not running.done()
        server.start()
        server.command("FLUSHALL")
        restored(server, back_up)
        for _ in range(200):
            if isinstance(await replay.sessions.primary.load(stolen), Ended):
                break
            await asyncio.sleep(0.05)
        assert not await lives(replay, stolen)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
