"""Redis away, hung, cut off and full of cancelled requests: what the shopper sees."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.apps.session_app import serving
from tests.conftest import free_port
from tests.redis_servers import OwnRedis, own_redis


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnRedis]:
    with own_redis(tmp_path) as server:
        yield server


@pytest.fixture
async def visitor(server: OwnRedis) -> AsyncIterator[httpx.AsyncClient]:
    """A visitor with something in the cart."""
    async with serving(server.url) as browser, browser() as visitor:
        await visitor.get("/login")
        await visitor.get("/add")
        yield visitor


async def statuses(visitor: httpx.AsyncClient, *paths: str) -> list[int]:
    return [(await visitor.get(path)).status_code for path in paths]


async def recovered(visitor: httpx.AsyncClient) -> int:
    """The quantity in the cart once the store answers again."""
    for _ in range(100):
        answer = await visitor.get("/cart")
        if answer.status_code == 200:
            return int(answer.json()["lines"]["cart:A"])
        await asyncio.sleep(0.02)
    pytest.fail("the store was never asked again")


ALL = ("/cart", "/add", "/note?text=x", "/login", "/logout")


@pytest.mark.parametrize("fault", ["gone", "hung"])
async def test_without_redis_who_needs_the_session_gets_a_503_and_keeps_the_cookie(
    visitor: httpx.AsyncClient, server: OwnRedis, fault: str
) -> None:
    before = dict(visitor.cookies)
    server.stop() if fault == "gone" else server.freeze()
    answers = [await visitor.get(path) for path in ALL]
    assert [answer.status_code for answer in answers] == [503] * len(ALL)
    assert all(answer.headers["retry-after"] for answer in answers)
    assert dict(visitor.cookies) == before
    server.start() if fault == "gone" else server.thaw()
    assert await recovered(visitor) >= 1


@pytest.mark.parametrize("fault", ["gone", "hung"])
async def test_without_redis_pages_without_a_session_answer_as_always(
    visitor: httpx.AsyncClient, server: OwnRedis, fault: str
) -> None:
    server.stop() if fault == "gone" else server.freeze()
    assert await statuses(visitor, "/plain") == [200]
    visitor.cookies.clear()
    assert await statuses(visitor, "/plain", "/cart") == [200, 200]


async def test_a_hung_redis_holds_nobody_longer_than_the_bound(
    visitor: httpx.AsyncClient, server: OwnRedis
) -> None:
    server.freeze()
    begun = time.monotonic()
    answers = await asyncio.gather(*(visitor.get(path) for path in ALL[:3] for _ in range(30)))
    # The promise is 300 ms; three seconds would be redis-py's timeouts and retries, or one of ours in a row.
    assert time.monotonic() - begun < 3
    assert {answer.status_code for answer in answers} == {503}
    server.thaw()
    assert await recovered(visitor) >= 1


async def test_a_shop_that_starts_before_its_redis_finds_it_later(tmp_path: Path) -> None:
    server = OwnRedis(tmp_path)
    async with serving(server.url) as browser, browser() as visitor:
        assert await statuses(visitor, "/plain", "/cart", "/add") == [200, 200, 503]
        server.start()
        try:
            assert await statuses(visitor, "/add", "/cart") == [200, 200]
        finally:
            server.stop()


async def test_an_idle_connection_that_the_server_closed_costs_no_request(
    visitor: httpx.AsyncClient, server: OwnRedis
) -> None:
    for expected in range(2, 6):
        server.command("CLIENT", "KILL", "TYPE", "normal")
        await asyncio.sleep(0)
        answer = await visitor.get("/add")
        if answer.status_code == 503:
            # The close was still on its way: a write is refused rather than sent twice.
            answer = await visitor.get("/add")
        assert answer.json() == {"quantity": expected}


async def test_no_write_is_ever_sent_twice(server: OwnRedis) -> None:
    proxy = SlowProxy(server.port)
    async with (
        proxy.listening() as port,
        serving(f"redis://127.0.0.1:{port}") as browser,
        browser() as visitor,
    ):
        # Twice, so that the server knows both scripts.
        assert await statuses(visitor, "/add", "/add") == [200, 200]
        proxy.mute = True
        answers = await asyncio.gather(*(visitor.get("/add") for _ in range(10)))
        assert {answer.status_code for answer in answers} == {503}
        proxy.mute = False
        assert await recovered(visitor) == 2 + 10


async def test_hundreds_of_requests_share_a_connection_instead_of_running_out_of_them(
    visitor: httpx.AsyncClient, server: OwnRedis
) -> None:
    answers = await asyncio.gather(*(visitor.get("/cart") for _ in range(300)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(server.command("CLIENT", "LIST").splitlines()) <= 2


class SlowProxy:
    """A way to Redis that dawdles, so that requests are cut in the middle, or keeps the answers to itself."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.mute = False
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Its port."""
        async with await asyncio.start_server(self._serve, "127.0.0.1", port := free_port()):
            yield port
            for serving in self._serving:
                serving.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        both = (self._carry(reader, back), self._carry(there, writer, answers=True))
        self._serving |= {asyncio.create_task(one) for one in both}

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        try:
            while data := await source.read(4096):
                await asyncio.sleep(random.uniform(0, 0.02))
                if not (answers and self.mute):
                    target.write(data)
        finally:
            target.close()


async def test_requests_cut_off_at_random_never_get_anybody_elses_answer(server: OwnRedis) -> None:
    async with SlowProxy(server.port).listening() as port, serving(f"redis://127.0.0.1:{port}") as browser:
        shoppers = {f"user:{n}": browser() for n in range(20)}
        for user, shopper in shoppers.items():
            assert await statuses(shopper, f"/login?user={user}", "/add") == [200, 200]

        async def look(user: str, *, patience: float | None) -> str | None:
            try:
                async with asyncio.timeout(patience):
                    path = random.choice(["/cart", "/add", "/note?text=x"])
                    await shoppers[user].get(path)
                    answer = await shoppers[user].get("/cart")
            except TimeoutError:
                return None
            return str(answer.json()["user"]) if answer.status_code == 200 else None

        for _ in range(15):
            users = random.sample(sorted(shoppers), 20)
            patience = [random.choice([None, random.uniform(0.001, 0.06)]) for _ in users]
            asked = [look(user, patience=p) for user, p in zip(users, patience, strict=True)]
            seen = await asyncio.gather(*asked)
            assert all(answer in (None, user) for user, answer in zip(users, seen, strict=True))
        assert await statuses(shoppers["user:1"], *["/cart"] * 50) == [200] * 50
        assert len(server.command("CLIENT", "LIST").splitlines()) <= 2
        for shopper in shoppers.values():
            await shopper.aclose()
