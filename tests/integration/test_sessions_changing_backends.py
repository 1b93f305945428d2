"""The backend is changed under load, from any to any, and nobody is logged out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
import pytest
import redis
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.sessions import Sessions
from app.sessions.config import FLIGHT_MS
from app.sessions.records import Draft
from tests.apps.session_app import CONFIG, KEYS
from tests.apps.session_fleet import back_after, fleet, shopped_through
from tests.redis_servers import own_redis


@pytest.fixture(
    params=[
        ("redis", "jwt"), ("jwt", "redis"), ("redis", "redis"), ("redis", "memory"), ("jwt", "jwt"), ("jwt", "eddsa"),
    ],
    ids="→".join,
)  # fmt: skip
async def urls(
    request: pytest.FixtureRequest, redis_url: str, tmp_path: Path
) -> AsyncIterator[Sequence[str]]:
    """The old backend and the new."""
    kinds: tuple[str, str] = request.param
    key_file = tmp_path / "key.pem"
    key_file.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    with own_redis(tmp_path) as second:
        servers = (redis_url, second.url)
        yield [_url(kind, server, key_file) for kind, server in zip(kinds, servers, strict=True)]


def _url(kind: str, server: str, key_file: Path) -> str:
    return {
        "memory": "memory://",
        "redis": server,
        "jwt": f"jwt+{server}",
        "eddsa": f"jwt+{server}?key_files={key_file}",
    }[kind]


async def test_a_change_of_backend_logs_nobody_out_and_loses_no_line(urls: Sequence[str]) -> None:
    added = await shopped_through(*urls, replicas=1 if "memory://" in urls else 2)
    assert all(number > 0 for number in added)


async def test_new_and_rotated_sessions_go_to_the_new_backend(redis_url: str) -> None:
    async with fleet(redis_url, 1) as made:
        cookies = httpx.Cookies()
        await made.get("/login?user=user:1", cookies)
        await made.get("/add", cookies)
        assert str(cookies.get(CONFIG.cookie)).startswith("r1.")
        await made.put(0, f"jwt+{redis_url}", redis_url)
        await made.get("/add", cookies)
        assert str(cookies.get(CONFIG.cookie)).startswith("r1.")
        await made.get("/login?user=user:1", cookies)
        assert str(cookies.get(CONFIG.cookie)).startswith("j1.")
        assert (await made.get("/cart", cookies)).json() == {"user": "user:1", "lines": {"cart:A": 2}}


async def test_revocation_reaches_both_backends(urls: Sequence[str]) -> None:
    old, new = urls
    async with fleet(old, 1) as made:
        before, after = httpx.Cookies(), httpx.Cookies()
        await made.get("/login?user=user:1", before)
        await made.put(0, new, old)
        await made.get("/login?user=user:1", after)
        await made.end_all("user:1")
        for cookies in (before, after):
            assert (await made.get("/cart", cookies)).json()["user"] is None


async def test_a_session_that_ended_before_the_change_stays_ended(urls: Sequence[str]) -> None:
    """Nobody told the new backend, and a token says of itself that it is alive."""
    assert not any(await back_after(*urls))


async def test_an_end_that_is_given_again_to_both_backends_in_one_redis_blocks_a_token_for_good(
    redis_url: str,
) -> None:
    sessions = Sessions.from_url(f"jwt+{redis_url}", keys=KEYS, config=CONFIG, also_accept=redis_url)
    record = await sessions.primary.create(Draft(fields={"a": b"1"}, user="user:1"))
    handle = sessions.primary.handle(record.ticket)
    await sessions.end_again(handle)
    with redis.Redis.from_url(redis_url) as server:
        assert server.pttl(f"{CONFIG.namespace}:ended:{handle}") > FLIGHT_MS
    await sessions.close()


async def test_a_session_from_before_the_change_is_listed_and_logged_out(urls: Sequence[str]) -> None:
    old, new = urls
    for primary, other in ((old, new), (new, old)):
        async with fleet(old, 1) as made:
            cookies = httpx.Cookies()
            await made.get("/login?user=user:3", cookies)
            await made.put(0, primary, other)
            assert (await made.get("/devices", cookies)).json() == [True]
            before = httpx.Cookies(cookies)
            await made.get("/logout", cookies)
            assert (await made.get("/cart", before)).json()["user"] is None


async def test_a_session_that_no_cookie_can_hold_stays_where_it_is(redis_url: str) -> None:
    async with fleet(redis_url, 1) as made:
        cookies = httpx.Cookies()
        for n in range(150):
            await made.get(f"/add?sku=AO-DAI-LUA-HONG-{n:03}", cookies)
        await made.put(0, f"jwt+{redis_url}", redis_url)
        for path in ("/login?user=user:1", "/others", "/login?user=user:1"):
            assert (await made.get(path, cookies)).status_code == 200
            shown = (await made.get("/cart", cookies)).json()
            assert (shown["user"], len(shown["lines"])) == ("user:1", 150)
