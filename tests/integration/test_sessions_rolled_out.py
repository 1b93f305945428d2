"""Two versions or two settings of the shop at once, as in every rollout: nobody is logged out by it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
import redis

from app.sessions import Sessions
from tests.apps.session_app import CONFIG, app_on

OLD, NEW = "the old key of thirty-two bytes!!", "the new key of thirty-two bytes!!"


class Alternating(httpx.AsyncBaseTransport):
    """Sends each request to the next replica."""

    def __init__(self, *replicas: httpx.ASGITransport) -> None:
        self._replicas = replicas
        self._asked = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._asked += 1
        return await self._replicas[self._asked % len(self._replicas)].handle_async_request(request)


@asynccontextmanager
async def rolled(url: str, *keys: list[str]) -> AsyncIterator[httpx.AsyncClient]:
    """A browser before replicas with these keys."""
    async with AsyncExitStack() as stack:
        replicas = []
        for held in keys:
            sessions = Sessions.from_url(url, keys=held, config=CONFIG)
            stack.push_async_callback(sessions.close)
            replicas.append(httpx.ASGITransport(app_on(sessions)))
        client = httpx.AsyncClient(transport=Alternating(*replicas), base_url="http://shop.example")
        yield await stack.enter_async_context(client)


async def stays(browser: httpx.AsyncClient, *, times: int = 10) -> None:
    """Log in, add and look, on either replica in turn, and log in again."""
    for round_ in range(3):
        assert (await browser.get("/login")).status_code == 200
        for number in range(1, times):
            assert (await browser.get("/add")).json() == {"quantity": round_ * (times - 1) + number}
            assert (await browser.get("/cart")).json()["user"] == "user:1"
            assert (await browser.get("/plain")).json() == {"presented": True}


@pytest.mark.parametrize("prefix", ["", "jwt+"], ids=["redis", "jwt"])
@pytest.mark.parametrize(
    ("one", "other"), [([OLD], [OLD, NEW]), ([OLD, NEW], [NEW, OLD]), ([NEW, OLD], [NEW])]
)
async def test_a_key_that_all_know_before_any_signs_with_it_logs_nobody_out(
    redis_url: str, prefix: str, one: list[str], other: list[str]
) -> None:
    async with rolled(prefix + redis_url, one, other) as browser:
        await stays(browser)


async def test_a_key_that_signs_before_all_know_it_would(redis_url: str) -> None:
    async with rolled(redis_url, [OLD], [NEW, OLD]) as browser:
        users = []
        for _ in range(4):
            await browser.get("/login")
            users.append((await browser.get("/cart")).json()["user"])
    assert None in users


async def test_what_a_newer_version_wrote_stays_readable_and_stays(redis_url: str) -> None:
    """A field of the session layer's own that this version does not know, and values of other types."""
    with redis.Redis.from_url(redis_url) as store:
        async with rolled(redis_url, [OLD], [OLD]) as browser:
            await browser.get("/login")
            (key,) = store.scan_iter(match="*:sessions:*")
            store.hset(
                key, mapping={"~z": "of a newer version", "theme": json.dumps({"v": 9}), "flag": "true"}
            )
            for number in range(1, 20):
                assert (await browser.get("/add")).json() == {"quantity": number}
                assert (await browser.get("/cart")).json()["user"] == "user:1"
            assert store.hget(key, "~z") == b"of a newer version"
            assert store.hget(key, "theme") == b'{"v": 9}'
            await browser.get("/login")
            (renewed,) = store.scan_iter(match="*:sessions:*")
            assert store.hget(renewed, "theme") == b'{"v": 9}'


async def test_what_an_older_version_left_out_is_no_reason_to_log_out(redis_url: str) -> None:
    """No device, no address: fields that an older version did not keep."""
    with redis.Redis.from_url(redis_url) as store:
        async with rolled(redis_url, [OLD], [OLD]) as browser:
            await browser.get("/login")
            (key,) = store.scan_iter(match="*:sessions:*")
            store.hdel(key, "~d", "~a")
            for number in range(1, 10):
                assert (await browser.get("/add")).json() == {"quantity": number}
                assert (await browser.get("/cart")).json()["user"] == "user:1"
