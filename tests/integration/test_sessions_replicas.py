"""The end of a session that replicas of Redis must have before it is reported done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.sessions import Sessions, StoreUnavailable
from app.sessions.ports import SessionStore
from app.sessions.records import Draft, Ended, Record
from tests.apps.session_app import CONFIG, KEYS
from tests.conftest import wait_until
from tests.redis_servers import OwnRedis, info, own_redis

MINE = Draft(fields={"a": b"1"}, user="user:1")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[OwnRedis, OwnRedis]]:
    """A primary and its replica, in step."""
    with own_redis(tmp_path / "a") as primary, own_redis(tmp_path / "b") as replica:
        replica.command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: b"master_link_status:up" in info(replica), what="the replica")
        wait_until(lambda: b"state=online" in info(primary), what="the replica's link")
        yield primary, replica


async def opened(url: str, *, replicas: int) -> Sessions:
    config = replace(CONFIG, revoke_replicas=replicas, timeout=timedelta(seconds=2))
    sessions = Sessions.from_url(url, keys=KEYS, config=config)
    await sessions.open()
    return sessions


@pytest.fixture(params=["", "jwt+"], ids=["redis", "jwt"])
async def careful(pair: tuple[OwnRedis, OwnRedis], request: pytest.FixtureRequest) -> AsyncIterator[Sessions]:
    """Sessions whose end one replica must have."""
    sessions = await opened(request.param + pair[0].url, replicas=1)
    yield sessions
    await sessions.close()


async def end(store: SessionStore, how: str, ticket: str) -> None:
    match how:
        case "all":
            await store.end_all("user:1")
        case "logout":
            await store.end(ticket)
        case "one":
            (device,) = await store.devices("user:1", current=None)
            assert await store.end_one("user:1", device.handle)


@pytest.mark.parametrize("how", ["all", "logout", "one"])
async def test_an_end_is_reported_done_once_the_replica_has_it(
    careful: Sessions, pair: tuple[OwnRedis, OwnRedis], how: str
) -> None:
    ticket = (await careful.primary.create(MINE)).ticket
    await end(careful.primary, how, ticket)
    pattern = "*:epochs:*" if how == "all" else "*:ended:*"
    # The trace follows the deletion; for a token it is the deletion.
    wait_until(lambda: pair[1].command("KEYS", pattern), what="the replica")
    assert isinstance(await careful.primary.load(ticket), Ended)


@pytest.mark.parametrize("how", ["all", "logout", "one"])
async def test_an_end_that_no_replica_has_is_not_reported_done(
    careful: Sessions, pair: tuple[OwnRedis, OwnRedis], how: str
) -> None:
    ticket = (await careful.primary.create(MINE)).ticket
    pair[1].freeze()
    with pytest.raises(StoreUnavailable):
        await end(careful.primary, how, ticket)
    pair[1].thaw()
    # Asking again is safe, and then it is done.
    await careful.primary.end_all("user:1")
    assert isinstance(await careful.primary.load(ticket), Ended)


async def test_waiting_for_a_replica_holds_up_nobody_else(
    careful: Sessions, pair: tuple[OwnRedis, OwnRedis]
) -> None:
    other = (await careful.primary.create(replace(MINE, user="user:2"))).ticket
    await careful.primary.end_all("user:3")
    pair[1].freeze()
    waiting = asyncio.create_task(careful.primary.end_all("user:1"))
    await asyncio.sleep(0.05)
    assert isinstance(await careful.primary.load(other), Record)
    assert not waiting.done()
    with pytest.raises(StoreUnavailable):
        await waiting
    pair[1].thaw()


async def test_without_the_setting_the_primary_alone_is_enough(pair: tuple[OwnRedis, OwnRedis]) -> None:
    sessions = await opened(pair[0].url, replicas=0)
    pair[1].freeze()
    assert await sessions.primary.end_all("user:1") > 0
    await sessions.close()
    pair[1].thaw()
