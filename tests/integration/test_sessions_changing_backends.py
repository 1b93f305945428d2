"""The backend is changed under load, from any to any and back, and nobody is logged out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.sessions import Sessions
from tests.apps.session_app import CONFIG, KEYS, app_on
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


class Fleet:
    """Replicas behind a round robin, each replaced on its own."""

    def __init__(self) -> None:
        self._replicas: list[httpx.ASGITransport] = []
        self._made: list[Sessions] = []
        self._next = 0

    async def put(self, at: int, url: str, also_accept: str | None = None) -> None:
        sessions = Sessions.from_url(url, keys=KEYS, config=CONFIG, also_accept=also_accept)
        await sessions.open()
        self._made.append(sessions)
        self._replicas[at : at + 1] = [httpx.ASGITransport(app_on(sessions))]

    async def get(self, path: str, cookies: httpx.Cookies) -> httpx.Response:
        self._next += 1
        transport = self._replicas[self._next % len(self._replicas)]
        async with httpx.AsyncClient(
            transport=transport, base_url="http://shop.example", cookies=cookies
        ) as client:
            answer = await client.get(path)
            cookies.update(client.cookies)
        return answer

    async def close(self) -> None:
        for sessions in self._made:
            await sessions.close()

    async def end_all(self, user: str) -> None:
        await self._made[-1].end_all(user)


@asynccontextmanager
async def fleet(url: str, replicas: int) -> AsyncIterator[Fleet]:
    made = Fleet()
    for at in range(replicas):
        await made.put(at, url)
    try:
        yield made
    finally:
        await made.close()


async def shop(made: Fleet, user: str, stop: asyncio.Event) -> int:
    """Shop until told to stop; returns the number of accepted additions."""
    cookies = httpx.Cookies()
    await made.get(f"/login?user={user}", cookies)
    added = 0
    while True:
        added += (await made.get("/add", cookies)).status_code == 200
        seen = (await made.get("/cart", cookies)).json()
        assert seen == {"user": user, "lines": {"cart:A": added}}
        if stop.is_set():
            return added
        await asyncio.sleep(0)


async def test_a_change_of_backend_logs_nobody_out_and_loses_no_line(urls: Sequence[str]) -> None:
    old, new = urls
    replicas = 1 if "memory://" in urls else 2
    async with fleet(old, replicas) as made:
        stop = asyncio.Event()
        shoppers = [asyncio.create_task(shop(made, f"user:{n}", stop)) for n in range(6)]
        for primary, other in ((old, new), (new, old)):
            for at in range(replicas):
                await asyncio.sleep(0.1)
                await made.put(at, primary, other)
            if "memory://" in urls:
                break
        await asyncio.sleep(0.1)
        stop.set()
        added = await asyncio.gather(*shoppers)
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
    old, new = urls
    async with fleet(old, 1) as made:
        out, revoked = httpx.Cookies(), httpx.Cookies()
        for cookies, user in ((out, "user:1"), (revoked, "user:2")):
            await made.get(f"/login?user={user}", cookies)
        await made.get("/logout", httpx.Cookies(out))
        await made.end_all("user:2")
        for primary, other in ((old, new), (new, old)):
            await made.put(0, primary, other)
            for cookies in (out, revoked):
                assert (await made.get("/cart", httpx.Cookies(cookies))).json()["user"] is None


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
