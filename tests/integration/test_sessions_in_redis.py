"""What lies in Redis: names, times to live, sizes, and nothing that would log anybody in."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
import redis

from tests.apps.session_app import CONFIG, serving, short

Client = redis.Redis


@pytest.fixture
def store(redis_url: str) -> Iterator[Client]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def keys(store: Client, pattern: str = "*") -> list[bytes]:
    return sorted(store.scan_iter(match=pattern))


async def test_visitors_bots_and_probes_store_nothing(redis_url: str, store: Client) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        answers = [await visitor.get(path) for path in ("/plain", "/cart", "/missing") for _ in range(200)]
    assert all("set-cookie" not in answer.headers for answer in answers)
    assert keys(store) == []


async def test_a_session_is_a_hash_under_the_hash_of_its_token(redis_url: str, store: Client) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        await visitor.get("/add")
        token = str(visitor.cookies.get(CONFIG.cookie)).split(".")[1]
    (key,) = keys(store)
    assert key.decode() == f"test:session:sessions:{hashlib.sha256(token.encode()).hexdigest()}"
    assert re.fullmatch(rb"test:session:sessions:[0-9a-f]{64}", key)
    assert store.hget(key.decode(), "cart:A") == b"1"


async def test_redis_never_sees_a_token_or_a_cookie(redis_url: str, store: Client) -> None:
    tokens = []
    async with serving(redis_url) as browser, browser() as visitor:
        for path in ("/add", "/login", "/login?user=user:2", "/add", "/logout"):
            await visitor.get(path)
            tokens += [
                part for part in (visitor.cookies.get(CONFIG.cookie) or "").split(".") if len(part) == 43
            ]
    seen = b"".join(key + repr(store.dump(key)).encode() for key in keys(store))
    assert len(tokens) == 8
    assert not [token for token in tokens if token.encode() in seen]


async def test_every_key_expires_and_carries_the_namespace(redis_url: str, store: Client) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        for path in ("/add", "/note?text=x", "/login", "/add", "/login", "/cart", "/login?user=user:2"):
            await visitor.get(path)
            found = keys(store)
            assert all(key.startswith(b"test:session:") and store.pttl(key) > 0 for key in found)
        await visitor.get("/logout")
        assert keys(store, "test:session:sessions:*") == []
        assert keys(store, "test:session:index:*") == []
        assert all(store.pttl(key) > 0 for key in keys(store))


async def test_a_use_renews_the_time_to_live_but_not_past_the_absolute_limit(
    redis_url: str, store: Client
) -> None:
    limits = short(idle_timeout=timedelta(seconds=60), absolute_timeout=timedelta(seconds=90))
    async with serving(redis_url, limits) as browser, browser() as visitor:
        await visitor.get("/add")
        (key,) = keys(store)
        assert 0 < store.pttl(key) <= 60_000
        store.hset(key.decode(), "~c", int(store.hget(key.decode(), "~c") or 0) - 80_000)
        await visitor.get("/add")
        assert 0 < store.pttl(key) <= 10_000


async def test_reads_touch_at_most_once_in_five_percent_of_the_idle_limit(
    redis_url: str, store: Client
) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        await visitor.get("/add")
        (key,) = keys(store)
        store.config_resetstat()
        for _ in range(20):
            await visitor.get("/cart")
        before = store.hget(key.decode(), "~s")
        store.hset(key.decode(), "~s", int(before or 0) - 1_000 * 91)
        store.pexpire(key, 1_000_000)
        for _ in range(20):
            await visitor.get("/cart")
    assert calls(store, "evalsha") == 1
    assert int(store.hget(key.decode(), "~s") or 0) >= int(before or 0)
    assert store.pttl(key) > 1_000_000


def calls(store: Client, command: str) -> int:
    """How often the server ran it."""
    found = store.info("commandstats").get(f"cmdstat_{command}", {})
    return int(found.get("calls", 0))


async def test_a_page_costs_one_read_and_the_reads_of_a_moment_one_packet(
    redis_url: str, store: Client
) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        await visitor.get("/login")
        for sku in "ABC":
            await visitor.get(f"/add?sku={sku}")
        store.config_resetstat()
        await asyncio.gather(*(visitor.get("/cart") for _ in range(50)))
    assert calls(store, "hgetall") == 50
    assert calls(store, "get") == 50
    assert store.info("stats")["total_reads_processed"] <= 10


async def test_identity_and_ten_lines_take_less_than_a_kilobyte(redis_url: str, store: Client) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        visitor.headers["user-agent"] = (
            "Mozilla/5.0 (Linux; Android 15; SM-S928B) Chrome/140.0 Mobile Safari/537"
        )
        await visitor.get("/login?user=user:0197a8c2-7d3e-7c51-9f0a-1f2e3d4c5b6a")
        for line in range(10):
            await visitor.get(f"/add?sku=AO-DAI-LUA-HONG-{line}")
    (key,) = keys(store, "*:sessions:*")
    assert store.object("encoding", key) == b"listpack"
    assert sum(store.memory_usage(one) or 0 for one in keys(store)) <= 1024


@pytest.mark.parametrize(
    "spoil",
    [
        lambda store, key: store.set(key, b"\x00garbage\xff"),
        lambda store, key: store.set(key, "null"),
        lambda store, key: store.set(key, "[]"),
        lambda store, key: store.rpush(key, "a"),
        lambda store, key: store.hset(key, "cart:A", 1),
        lambda store, key: store.hset(key, mapping={"~c": "x", "~s": "5"}),
        lambda store, key: store.hset(key, mapping={"~c": "1", "~s": b"\xff"}),
        lambda store, key: store.hset(key, mapping={"version": 99, "data": "{}"}),
    ],
)
@pytest.mark.parametrize("path", ["/cart", "/add", "/note?text=x", "/login", "/logout"])
async def test_an_unreadable_record_means_a_fresh_session_and_one_line_in_the_log(
    redis_url: str, store: Client, spoil: object, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(spoil)
    async with serving(redis_url) as browser, browser() as visitor:
        await visitor.get("/add")
        (key,) = keys(store)
        store.delete(key)
        spoil(store, key)
        store.pexpire(key, 60_000)
        with caplog.at_level(logging.WARNING):
            answer = await visitor.get(path)
        assert answer.status_code == 200
        assert keys(store, key.decode()) == []
        assert (await visitor.get("/add")).json()["quantity"] in {1, 2}
    assert len(caplog.records) == (0 if path == "/logout" else 1)


@pytest.mark.parametrize("junk", [b"\xff not JSON", b"9" * 5000], ids=["bytes", "digits"])
async def test_an_unreadable_field_is_taken_for_absent(redis_url: str, store: Client, junk: bytes) -> None:
    async with serving(redis_url) as browser, browser() as visitor:
        for sku in "AB":
            await visitor.get(f"/add?sku={sku}")
        (key,) = keys(store)
        store.hset(key.decode(), "cart:A", junk)
        answer = await visitor.get("/cart")
        assert answer.status_code == 200
        assert answer.json()["lines"]["cart:B"] == 1
