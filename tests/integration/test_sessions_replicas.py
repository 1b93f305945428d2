"""The end of a session that replicas of Redis must have before it is reported done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from redis.crc import key_slot

from app.sessions import Session, Sessions, StoreUnavailable
from app.sessions.ports import SessionStore
from app.sessions.records import Draft, Ended, Record
from app.sessions.redis_keys import Keys
from app.sessions.tickets import user_ref
from tests.apps.session_app import CONFIG, KEYS
from tests.conftest import wait_until
from tests.redis_servers import OwnRedis, attach, info, own_redis, redis_cluster, redis_pair

MINE = Draft(fields={"a": b"1"}, user="user:1")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OwnRedis, OwnRedis]]:
    """A primary and its replica."""
    with redis_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def pair(servers: tuple[OwnRedis, OwnRedis]) -> Iterator[tuple[OwnRedis, OwnRedis]]:
    """The two, empty and in step, whatever the test does to the replica."""
    primary, replica = servers
    primary.command("FLUSHALL")
    wait_until(lambda: replica.command("DBSIZE") == 0, what="the replica")
    yield servers
    replica.thaw()
    attach(replica, primary)


async def opened(url: str, *, replicas: int) -> Sessions:
    config = replace(CONFIG, revoke_replicas=replicas, timeout=timedelta(seconds=2))
    sessions = Sessions.from_url(url, keys=KEYS, config=config)
    await sessions.open()
    return sessions


@pytest.fixture(params=["", "jwt+"], ids=["redis", "jwt"])
def prefix(request: pytest.FixtureRequest) -> str:
    """Sessions in Redis, or in tokens."""
    return str(request.param)


@pytest.fixture
async def careful(pair: tuple[OwnRedis, OwnRedis], prefix: str) -> AsyncIterator[Sessions]:
    """Sessions whose end one replica must have."""
    sessions = await opened(prefix + pair[0].url, replicas=1)
    yield sessions
    await sessions.close()


def asked_with(sessions: Sessions, ticket: str) -> Session:
    """The session of a request that came with that ticket."""
    value = sessions.homes(ticket)[0].seal.close(ticket)
    header = (b"cookie", f"{sessions.config.cookie}={value}".encode())
    return Session(sessions, {"type": "http", "headers": [header], "client": None})


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
    careful: Sessions, pair: tuple[OwnRedis, OwnRedis], prefix: str, how: str
) -> None:
    ticket = (await careful.primary.create(MINE)).ticket
    await end(careful.primary, how, ticket)
    by_key = "epochs" if how == "all" else "ended" if prefix else "sessions"
    assert bool(pair[1].command("KEYS", f"*:{by_key}:*")) == (by_key != "sessions")
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


async def test_a_login_waits_for_no_replica_and_a_failover_brings_back_no_more_than_the_visitor(
    careful: Sessions, pair: tuple[OwnRedis, OwnRedis], prefix: str
) -> None:
    promoted = pair[1]
    visitor = (await careful.primary.create(Draft(fields={"cart": b"1"}))).ticket
    if careful.primary.concurrent_writes:
        wait_until(lambda: promoted.command("KEYS", "*:sessions:*"), what="the replica")
    promoted.command("REPLICAOF", "NO", "ONE")
    session = asked_with(careful, visitor)
    await session.login("user:1")
    assert await session.user() == "user:1"
    assert isinstance(await careful.primary.load(visitor), Ended)
    with pytest.raises(StoreUnavailable):
        await session.logout()
    after = await opened(prefix + promoted.url, replicas=0)
    back = asked_with(after, visitor)
    assert (await back.user(), await back.items()) == (None, {"cart": 1})
    await after.close()


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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[OwnRedis]]:
    """Two nodes that share the slots, and a replica of the first."""
    folder = tmp_path_factory.mktemp("cluster")
    options = "--cluster-enabled", "yes", "--repl-diskless-sync-delay", "0"
    with redis_cluster(folder, nodes=2) as nodes, own_redis(folder / "replica", None, *options) as replica:
        replica.command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
        first = nodes[0].command("CLUSTER", "MYID")
        wait_until(lambda: first in replica.command("CLUSTER", "NODES"), what="the replica's view")
        replica.command("CLUSTER", "REPLICATE", first)
        wait_until(lambda: b"state=online" in info(nodes[0]), what="the replica's link")
        yield nodes


async def test_an_end_whose_key_has_moved_is_not_reported_done_by_the_node_it_left(
    cluster: Sequence[OwnRedis],
) -> None:
    """Only the replicas of the node that made the change count; the second has none."""
    first, second = cluster
    sessions = await opened(f"redis+cluster://127.0.0.1:{first.port}", replicas=1)
    keys = Keys(CONFIG.namespace)
    slots = {f"user:{n}": key_slot(keys.epoch(user_ref(CONFIG.namespace, f"user:{n}"))) for n in range(50)}
    stays, moves, *_ = [user for user, slot in slots.items() if slot < 16384 // 2]
    alone = next(user for user, slot in slots.items() if slot >= 16384 // 2)
    assert await sessions.primary.end_all(stays) > 0
    with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
        await sessions.primary.end_all(alone)
    for node in (second, first):
        node.command("CLUSTER", "SETSLOT", slots[moves], "NODE", second.command("CLUSTER", "MYID"))
    for says in ("has moved", "0 of 1 replicas"):
        with pytest.raises(StoreUnavailable, match=says):
            await sessions.primary.end_all(moves)
    assert await sessions.primary.end_all(stays) > 0
    await sessions.close()


async def test_without_the_setting_the_primary_alone_is_enough(pair: tuple[OwnRedis, OwnRedis]) -> None:
    sessions = await opened(pair[0].url, replicas=0)
    pair[1].freeze()
    assert await sessions.primary.end_all("user:1") > 0
    await sessions.close()
    pair[1].thaw()
