"""The failure table of the session layer's README, cell by cell, each done to a real server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.apps.session_app import CONFIG, serving
from tests.redis_servers import OwnRedis, own_redis, redis_6_2, redis_cluster, redis_with_sentinel, valkey

Browser = Callable[[], httpx.AsyncClient]

READ, WRITES, OUT = "/cart", ("/add", "/note?text=x", "/login"), "/logout"


@pytest.fixture(params=[valkey, redis_6_2], ids=["valkey", "redis-6.2"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OwnRedis]:
    with own_redis(tmp_path, request.param()) as server:
        yield server


@pytest.fixture
async def browser(server: OwnRedis) -> AsyncIterator[Browser]:
    async with serving(server.url) as browser:
        yield browser


@pytest.fixture
async def shopper(browser: Browser) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody logged in with a line in the cart."""
    async with browser() as shopper:
        await shopper.get("/login")
        await shopper.get("/add")
        yield shopper


async def statuses(shopper: httpx.AsyncClient, *paths: str) -> list[int]:
    return [(await shopper.get(path)).status_code for path in paths]


async def eventually(shopper: httpx.AsyncClient, path: str = READ) -> httpx.Response:
    """The first answer that is not a 503."""
    for _ in range(300):
        answer = await shopper.get(path)
        if answer.status_code != 503:
            return answer
        await asyncio.sleep(0.05)
    pytest.fail("the store was never found again")


async def is_as_it_was(shopper: httpx.AsyncClient) -> bool:
    """Whether the shopper is still logged in with the cart, nothing restarted."""
    answer = await eventually(shopper)
    return bool(answer.json() == {"user": "user:1", "lines": {"cart:A": 1}})


async def test_read_only_refuses_writes_and_serves_reads(
    shopper: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.command("REPLICAOF", "127.0.0.1", "1")
    assert await statuses(shopper, READ, *WRITES, OUT) == [200, 503, 503, 503, 503]
    assert await is_as_it_was(shopper)
    server.command("REPLICAOF", "NO", "ONE")
    assert await is_as_it_was(shopper)
    assert (await eventually(shopper, "/add")).json() == {"quantity": 2}


async def test_a_full_server_refuses_writes_and_serves_reads_and_logout(
    shopper: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.command("CONFIG", "SET", "maxmemory", "1")
    assert await statuses(shopper, READ, *WRITES) == [200, 503, 503, 503]
    assert await is_as_it_was(shopper)
    assert await statuses(shopper, OUT) == [200]
    assert (await shopper.get(READ)).json() == {"user": None, "lines": {}}
    server.command("CONFIG", "SET", "maxmemory", "0")
    assert await statuses(shopper, "/login") == [200]


async def test_a_full_server_keeps_a_used_session_alive(shopper: httpx.AsyncClient, server: OwnRedis) -> None:
    (key,) = server.command("KEYS", "*:sessions:*")
    server.command("HINCRBY", key, "~s", -100_000)
    server.command("PEXPIRE", key, 5_000)
    server.command("CONFIG", "SET", "maxmemory", "1")
    assert await statuses(shopper, READ) == [200]
    await asyncio.sleep(0.1)
    assert server.command("PTTL", key) > 5_000


async def test_a_failing_save_refuses_writes_and_serves_reads(
    shopper: httpx.AsyncClient, server: OwnRedis, tmp_path: Path
) -> None:
    server.command("CONFIG", "SET", "save", "3600 1")
    (tmp_path / "data" / "dump.rdb").mkdir()
    server.command("BGSAVE")
    for _ in range(100):
        if server.command("INFO", "persistence")["rdb_last_bgsave_status"] != "ok":
            break
        await asyncio.sleep(0.05)
    answers = [await shopper.get(path) for path in (READ, *WRITES, OUT)]
    assert [answer.status_code for answer in answers] == [200, 503, 503, 503, 503]
    assert "MISCONF" not in "".join(answer.text for answer in answers)
    server.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
    assert await is_as_it_was(shopper)
    assert await statuses(shopper, *WRITES, OUT) == [200] * 4


async def test_a_password_set_meanwhile_is_a_503_until_it_is_taken_back(
    shopper: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.command("CONFIG", "SET", "requirepass", "secret")
    server.command_with("secret", "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    await asyncio.sleep(0.05)
    answers = [await shopper.get(path) for path in (READ, *WRITES, OUT)]
    assert [answer.status_code for answer in answers] == [503] * 5
    assert "NOAUTH" not in "".join(answer.text for answer in answers)
    server.command_with("secret", "CONFIG", "SET", "requirepass", "")
    assert await is_as_it_was(shopper)


async def test_a_loading_server_is_a_503_until_it_has_loaded(
    shopper: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.fill(20_000)
    server.command("SAVE")
    server.restart("--appendonly", "no", "--key-load-delay", "60", loaded=False)
    assert await statuses(shopper, READ, *WRITES, OUT) == [503] * 5
    assert await is_as_it_was(shopper)


async def test_an_emptied_server_means_nobody_is_logged_in_and_everybody_can_again(
    shopper: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.command("FLUSHALL")
    server.command("SCRIPT", "FLUSH")
    assert (await shopper.get(READ)).json() == {"user": None, "lines": {}}
    assert await statuses(shopper, "/add", "/login") == [200, 200]
    assert await is_as_it_was(shopper)


async def test_a_restarted_server_has_kept_everything(shopper: httpx.AsyncClient, server: OwnRedis) -> None:
    await asyncio.sleep(1.1)  # the append-only file is written every second
    server.restart()
    assert await is_as_it_was(shopper)
    assert (await eventually(shopper, "/add")).json() == {"quantity": 2}


@pytest.mark.parametrize(("policy", "warnings"), [("allkeys-lru", 1), ("volatile-ttl", 1), ("noeviction", 0)])
async def test_a_policy_that_may_evict_sessions_is_warned_of_at_the_start(
    server: OwnRedis, caplog: pytest.LogCaptureFixture, policy: str, warnings: int
) -> None:
    server.command("CONFIG", "SET", "maxmemory-policy", policy)
    server.command("CONFIG", "SET", "maxmemory", "100mb")
    with caplog.at_level(logging.WARNING):
        async with serving(server.url) as browser, browser() as visitor:
            await visitor.get("/add")
            for _ in range(100):
                if len(caplog.records) >= warnings:
                    break
                await asyncio.sleep(0.02)
    assert len(caplog.records) == warnings
    assert all(policy in record.getMessage() for record in caplog.records)


async def test_an_evicted_session_is_a_logout_and_never_another_users(
    shopper: httpx.AsyncClient, browser: Browser, server: OwnRedis
) -> None:
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
    async with browser() as other:
        await other.get("/login?user=user:2")
        server.command("CONFIG", "SET", "maxmemory", "1")
        for _ in range(5):
            for client, user in ((shopper, "user:1"), (other, "user:2")):
                answer = await client.get(READ)
                assert answer.status_code in {200, 503}
                assert answer.status_code == 503 or answer.json()["user"] in {user, None}


async def test_a_failover_behind_sentinel_keeps_every_session(tmp_path: Path) -> None:
    with redis_with_sentinel(tmp_path) as (url, master, _replica):
        async with serving(url) as browser, browser() as shopper:
            await statuses(shopper, "/login", "/add")
            master.command("WAIT", 1, 1000)
            master.stop()
            assert (await shopper.get("/cart")).status_code == 503
            assert await is_as_it_was(shopper)
            assert (await eventually(shopper, "/add")).json() == {"quantity": 2}


async def test_a_cluster_that_moves_a_slot_loses_no_write(tmp_path: Path) -> None:
    with redis_cluster(tmp_path, 2) as nodes:
        url = "redis+cluster://" + f"127.0.0.1:{nodes[0].port}"
        async with serving(url) as browser, browser() as shopper:
            await statuses(shopper, "/login", "/add")
            (key,) = [key for node in nodes for key in node.command("KEYS", "*:sessions:*")]
            slot = nodes[0].command("CLUSTER", "KEYSLOT", key)
            source, target = sorted(nodes, key=lambda node: key not in node.command("KEYS", "*"))
            names = [node.command("CLUSTER", "MYID").decode() for node in (source, target)]
            target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", names[0])
            source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", names[1])
            assert (await shopper.get("/add")).json() == {"quantity": 2}
            source.command("MIGRATE", "127.0.0.1", target.port, key, 0, 1000)
            assert (await shopper.get("/add")).json() == {"quantity": 3}
            for node in (target, source):
                node.command("CLUSTER", "SETSLOT", slot, "NODE", names[1])
            assert (await shopper.get("/add")).json() == {"quantity": 4}
            assert (await shopper.get(READ)).json()["user"] == "user:1"


async def test_no_text_of_redis_reaches_a_shopper(shopper: httpx.AsyncClient, server: OwnRedis) -> None:
    server.stop()
    answer = await shopper.get(READ)
    assert "redis" not in answer.text.lower()
    assert CONFIG.namespace not in answer.text
