"""The races of better-auth #11073, each held open until the other side is done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
import redis

from app.sessions import Session, SessionEnded, Sessions
from app.sessions.changes import Changes
from app.sessions.contract import Clock
from app.sessions.records import Draft, Ended, Record
from app.sessions.redis_link import Reply
from app.sessions.redis_scripts import CLAIM, COMMIT, CREATE, EPOCH, Script
from app.sessions.redis_server import Options, Server
from app.sessions.redis_store import RedisStore
from app.sessions.tickets import SignedSeal
from tests.apps.session_app import CONFIG, KEYS

MINE = Draft(fields={"a": b"1"}, user="user:1")


class Gate(Server):
    """A way to Redis on which the calls of one script wait until they are let through."""

    def __init__(self, url: str) -> None:
        super().__init__(Options(url), 5.0)
        self.held: Script | None = None
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def call(self, *commands: tuple[bytes, bytes]) -> list[Reply]:
        if self.held is not None and commands and self.held.sha.encode() in commands[0][1]:
            self.reached.set()
            await self.opened.wait()
        return await super().call(*commands)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gate(redis_url: str) -> Gate:
    return Gate(redis_url)


@pytest.fixture
async def slow(gate: Gate, clock: Clock) -> AsyncIterator[RedisStore]:
    """A replica whose way to Redis can be held."""
    store = RedisStore(gate, replace(CONFIG, clock=clock), SignedSeal(KEYS))
    yield store
    gate.opened.set()
    await store.close()


@pytest.fixture
async def other(redis_url: str, clock: Clock) -> AsyncIterator[RedisStore]:
    """Another replica."""
    store = RedisStore(Server(Options(redis_url), 5.0), replace(CONFIG, clock=clock), SignedSeal(KEYS))
    yield store
    await store.close()


@pytest.fixture
def server(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


async def test_a_login_that_began_before_the_end_of_all_is_over(
    slow: RedisStore, other: RedisStore, gate: Gate
) -> None:
    gate.held = CREATE
    login = asyncio.create_task(slow.create(MINE))
    await gate.reached.wait()
    await other.end_all("user:1")
    gate.opened.set()
    assert isinstance(await other.load((await login).ticket), Ended)
    assert await other.devices("user:1", current=None) == []


@pytest.mark.parametrize("ending", ["one", "all", "logout", "rotation"])
@pytest.mark.parametrize("change", [Changes(), Changes(put={"a": b"2"})], ids=["touch", "write"])
async def test_a_use_under_way_never_brings_an_ended_session_back(
    slow: RedisStore, other: RedisStore, gate: Gate, server: redis.Redis, ending: str, change: Changes
) -> None:
    ticket = (await other.create(MINE)).ticket
    gate.held = COMMIT
    use = asyncio.create_task(slow.commit(ticket, change))
    await gate.reached.wait()
    await _end(other, ticket, ending)
    gate.opened.set()
    assert isinstance(await use, Ended)
    assert isinstance(await other.load(ticket), Ended)
    assert list(server.scan_iter(match="*:sessions:*")) == []


async def _end(store: RedisStore, ticket: str, ending: str) -> None:
    match ending:
        case "one":
            (device,) = await store.devices("user:1", current=None)
            assert await store.end_one("user:1", device.handle)
        case "all":
            await store.end_all("user:1")
        case "logout":
            await store.end(ticket)
        case "rotation":
            claim = await store.claim(ticket)
            assert not isinstance(claim, Ended)
            assert await store.settle(claim)


async def test_a_touch_under_way_never_lists_an_ended_session_again(
    slow: RedisStore, other: RedisStore, gate: Gate, server: redis.Redis, clock: Clock
) -> None:
    ticket = (await other.create(MINE)).ticket
    clock.advance(CONFIG.idle_timeout * 0.1)
    gate.held = COMMIT
    await slow.load(ticket)
    await gate.reached.wait()
    await other.end(ticket)
    gate.opened.set()
    await slow.close()  # which lets touches finish
    assert list(server.scan_iter(match="*:index:*")) == []


async def test_logins_and_logouts_at_once_leave_a_true_list(slow: RedisStore, other: RedisStore) -> None:
    ending = [await slow.create(MINE) for _ in range(20)]
    ways = (slow, other)
    created = await asyncio.gather(
        *(ways[n % 2].create(MINE) for n in range(20)),
        *(ways[n % 2].end(record.ticket) for n, record in enumerate(ending)),
    )
    alive = [record for record in created if isinstance(record, Record)]
    assert len(await other.devices("user:1", current=None)) == len(alive) == 20


async def test_with_a_lost_index_the_end_of_all_still_ends_all(
    other: RedisStore, server: redis.Redis
) -> None:
    records = [await other.create(MINE) for _ in range(3)]
    server.delete(*server.scan_iter(match="*:index:*"))
    await other.end_all("user:1")
    assert all([isinstance(await other.load(record.ticket), Ended) for record in records])


async def test_with_a_lost_index_no_write_after_the_end_of_all_is_reported_done(
    other: RedisStore, server: redis.Redis
) -> None:
    record = await other.create(MINE)
    server.delete(*server.scan_iter(match="*:index:*"))
    await other.end_all("user:1")
    assert isinstance(await other.commit(record.ticket, Changes(put={"a": b"2"})), Ended)
    assert isinstance(await other.claim(record.ticket), Ended)


@pytest.mark.parametrize("held", [EPOCH, CLAIM, CREATE], ids=["epoch", "claim", "create"])
async def test_with_a_lost_index_the_end_of_all_ends_what_a_session_is_replaced_by(
    slow: RedisStore, other: RedisStore, gate: Gate, server: redis.Redis, held: Script
) -> None:
    cookie = slow.seal.close((await other.create(MINE)).ticket)
    server.delete(*server.scan_iter(match="*:index:*"))
    header = (b"cookie", f"{CONFIG.cookie}={cookie}".encode())
    session = Session(Sessions([slow], CONFIG), {"type": "http", "headers": [header], "client": None})
    gate.held = held
    rotation = asyncio.create_task(session.login("user:1"))
    await gate.reached.wait()
    await other.end_all("user:1")
    gate.opened.set()
    with suppress(SessionEnded):
        await rotation
    await session.reload()
    assert await session.user() is None


async def test_a_lost_index_heals_with_use(other: RedisStore, server: redis.Redis, clock: Clock) -> None:
    record = await other.create(MINE)
    server.delete(*server.scan_iter(match="*:index:*"))
    assert await other.devices("user:1", current=None) == []
    clock.advance(CONFIG.idle_timeout * 0.1)
    await other.load(record.ticket)
    for _ in range(100):
        if len(await other.devices("user:1", current=None)) == 1:
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("the index never healed")


async def test_the_epoch_of_a_user_outlives_every_session_it_judges(
    other: RedisStore, server: redis.Redis
) -> None:
    await other.end_all("user:1")
    (key,) = server.scan_iter(match="*:epochs:*")
    assert server.pttl(key) > CONFIG.absolute_timeout / timedelta(milliseconds=1)
