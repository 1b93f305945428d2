"""`python -m bench.sessions.mixup`: whether anybody ever gets another user's answer.

Users read and write their sessions through one process whose way to Redis is a proxy that dawdles and sometimes
hangs up. Half of the requests are cut off at random. Every answer names its user; a wrong name ends the run with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.sessions import SessionConfig, SessionMiddleware, Sessions, session_of
from bench.sessions.servers import free_port, redis_running

PATHS: Final = ("/cart", "/add", "/note")
WRONG: Final = "another user's"
_DAWDLE_S: Final = 0.008
_HANG_UP_EVERY: Final = 400
"""Packets, on average."""


async def cart(request: Request) -> JSONResponse:
    """Whose it is, twice: as the session says, and as it was written into it."""
    session = session_of(request)
    return JSONResponse({"user": await session.user(), "mark": await session.get("mark")})


async def add(request: Request) -> JSONResponse:
    """A write, and then the same."""
    await session_of(request).increment("count", 1)
    return await cart(request)


async def note(request: Request) -> JSONResponse:
    """A write with the head."""
    await session_of(request).set("note", random.random())
    return await cart(request)


async def login(request: Request) -> JSONResponse:
    """Become somebody, and write it down."""
    user = request.query_params["user"]
    await session_of(request).login(user)
    await session_of(request).set("mark", user)
    return JSONResponse({})


class Proxy:
    """A way to Redis that dawdles, and hangs up once in a while."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_kind = True
        self.hung_up = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Its port."""
        async with await asyncio.start_server(self._serve, "127.0.0.1", port := free_port()):
            yield port
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        for one in (self._carry(reader, back, writer), self._carry(there, writer, back)):
            task = asyncio.create_task(one)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, other: asyncio.StreamWriter
    ) -> None:
        try:
            while data := await source.read(random.randint(100, 4096)):
                await asyncio.sleep(random.uniform(0, _DAWDLE_S))
                if not self.is_kind and random.randrange(_HANG_UP_EVERY) == 0:
                    self.hung_up += 1
                    break
                if target.is_closing():
                    break
                target.write(data)
        except OSError:
            pass
        finally:
            target.close()
            other.close()


class Browser:
    """One user's cookie, and requests as an ASGI server makes them; one that is cut off is cancelled."""

    def __init__(self, app: Starlette, user: str) -> None:
        self._app = app
        self.user = user
        self.cookie = b""

    async def get(self, path: str) -> tuple[int, Any]:
        """Status and body; the cookie is kept."""
        path, _, query = path.partition("?")
        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "path": path, "raw_path": path.encode(),
            "query_string": query.encode(), "headers": [(b"host", b"shop"), (b"cookie", self.cookie)], "scheme": "http",
            "client": ("192.0.2.1", 1), "server": ("shop", 80), "root_path": "",
        }  # fmt: skip
        status, body = 0, b""

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status, body
            if message["type"] == "http.response.start":
                status = message["status"]
                for name, value in message["headers"]:
                    if name.lower() == b"set-cookie":
                        self.cookie = value.partition(b";")[0]
            else:
                body += message.get("body", b"")

        await self._app(scope, receive, send)
        return status, json.loads(body) if status == 200 else None


async def run(redis_port: int, *, users: int, requests: int, at_once: int) -> Counter[str]:
    """What became of the requests."""
    proxy = Proxy(redis_port)
    seen: Counter[str] = Counter()
    async with proxy.listening() as port, _app(f"redis://127.0.0.1:{port}") as app:
        browsers = [Browser(app, f"user:{number}") for number in range(users)]
        for browser in browsers:
            await browser.get(f"/login?user={browser.user}")
        proxy.is_kind = False
        left = iter(range(requests))

        async def worker() -> None:
            for number in left:
                seen[await _ask(random.choice(browsers), is_cut=number % 2 == 0)] += 1

        await asyncio.gather(*(worker() for _ in range(at_once)))
        proxy.is_kind = True
        seen["redis connections cut"] = proxy.hung_up
        seen["right afterwards"] = await _right(browsers)
    return seen


async def _ask(browser: Browser, *, is_cut: bool) -> str:
    try:
        async with asyncio.timeout(random.uniform(0.0005, 0.06) if is_cut else None):
            status, answer = await browser.get(random.choice(PATHS))
    except TimeoutError:
        return "cut off"
    if status != 200:
        return f"answered {status}"
    return "right" if {answer["user"], answer["mark"]} == {browser.user} else WRONG


async def _right(browsers: Sequence[Browser]) -> int:
    await asyncio.sleep(0.5)
    answers = [(browser.user, await browser.get("/cart")) for browser in browsers]
    return sum(answer == (200, {"user": user, "mark": user}) for user, answer in answers)


@asynccontextmanager
async def _app(url: str) -> AsyncIterator[Starlette]:
    sessions = Sessions.from_url(url, keys=["bench-" * 8], config=SessionConfig(cookie_secure=False))
    app = Starlette(routes=[Route(f"/{view.__name__}", view) for view in (cart, add, note, login)])
    app.add_middleware(SessionMiddleware, sessions=sessions)
    await sessions.open()
    try:
        yield app
    finally:
        await sessions.close()


def main() -> None:
    """Ask, count, judge."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--users", type=int, default=300)
    words.add_argument("--requests", type=int, default=20_000)
    words.add_argument("--at-once", type=int, default=100)
    given = words.parse_args()
    with redis_running() as server:
        began = time.perf_counter()
        seen = uvloop.run(run(server.port, users=given.users, requests=given.requests, at_once=given.at_once))
    print(f"{given.requests:,} requests of {given.users} users in {time.perf_counter() - began:.0f} s")
    for what in sorted({*seen, WRONG}):
        print(f"  {what:<24} {seen[what]:>7,}")
    sys.exit(1 if seen[WRONG] or seen["right afterwards"] < given.users else 0)


if __name__ == "__main__":
    main()
