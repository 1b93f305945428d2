"""A small app with a session, and browsers to visit it with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..errors import Refused
from ..merging import merged
from ..middleware import SessionMiddleware, session_of
from ..pending import JSON
from ..sessions import Sessions
from .storing import Fixtures

Client = httpx.AsyncClient


async def _show(request: Request) -> JSONResponse:
    session = session_of(request)
    return JSONResponse({"user": await session.user(), "fields": await session.items()})


async def _put(request: Request) -> JSONResponse:
    session = session_of(request)
    for name, value in (await request.json()).items():
        await session.set(name, value)
    return JSONResponse({})


async def _append(request: Request) -> JSONResponse:
    session = session_of(request)
    seen: Any = await session.get("seen", None)
    if seen is None:
        await session.set("seen", [])
    else:
        seen.append(len(seen))
    return JSONResponse({})


async def _add(request: Request) -> JSONResponse:
    try:
        number = await session_of(request).increment(request.query_params["name"], 1, high=99)
    except Refused as refused:
        return JSONResponse({"field": refused.field}, 422)
    return JSONResponse({"number": number})


async def _login(request: Request) -> JSONResponse:
    await session_of(request).login(request.query_params["user"])
    return JSONResponse({})


async def _merge(request: Request) -> JSONResponse:
    kept = {"a": 1, "c": 5}

    def together(fields: Mapping[str, JSON]) -> Mapping[str, JSON]:
        guest = {name: n for name, n in fields.items() if isinstance(n, int)}
        return {**fields, **merged(guest, kept, "sum")}

    await session_of(request).login("user:1", merge=together)
    return JSONResponse({})


async def _logout(request: Request) -> JSONResponse:
    await session_of(request).logout()
    return JSONResponse({})


async def _devices(request: Request) -> JSONResponse:
    return JSONResponse([device.handle for device in await session_of(request).devices()])


async def _end(request: Request) -> JSONResponse:
    session = session_of(request)
    match request.query_params["which"]:
        case "others":
            await session.end_others()
        case "all":
            await session.end_all()
        case handle:
            return JSONResponse(await session.end_one(handle))
    return JSONResponse({})


async def _static(request: Request) -> JSONResponse:
    return JSONResponse({"path": request.url.path})


async def _much(request: Request) -> JSONResponse:
    session = session_of(request)
    await session.set("early", 1)
    numbers = [await session.increment("n", 2)]
    await session.login("user:1")
    await session.set("a", [1])
    numbers += [await session.increment("n", 2), await session.increment("n", 2)]
    await session.delete("early")
    await session.commit()
    await session.set("late", 1)
    return JSONResponse({"user": await session.user(), "fields": await session.items(), "numbers": numbers})


async def _changing(request: Request) -> JSONResponse:
    session = session_of(request)
    seen: Any = await session.get("seen")
    await asyncio.gather(session.increment("n"), session.set("meanwhile", 1))
    seen.append(1)
    await session.commit()
    seen.append(2)
    return JSONResponse({})


async def _switch(request: Request) -> JSONResponse:
    session = session_of(request)
    seen: Any = await session.get("seen")
    seen.append(1)
    await session.login(request.query_params["user"])
    seen.append(2)
    return JSONResponse({})


async def _at_once(request: Request) -> JSONResponse:
    session = session_of(request)
    await asyncio.gather(session.items(), session.increment("n"), session.get("n"), session.increment("n"))
    once, twice = await session.get("n"), (await session.items())["n"]
    return JSONResponse([once, twice, await session.increment("n", 0)])


_ROUTES: Final = {
    "show": _show,
    "put": _put,
    "append": _append,
    "add": _add,
    "login": _login,
    "merge": _merge,
    "logout": _logout,
    "devices": _devices,
    "end": _end,
    "static": _static,
    "much": _much,
    "at_once": _at_once,
    "changing": _changing,
    "switch": _switch,
}


class Slow:
    """A route that looks at its session, waits for the test, then writes or not."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, request: Request) -> JSONResponse:
        session = session_of(request)
        looks, writes = (request.query_params.get(name) for name in ("looks", "writes"))
        if looks:
            await session.user()
        self.arrived.set()
        await self.go_on.wait()
        if writes == "set":
            await session.set("late", 1)
        elif writes == "add":
            await session.increment("late", 1)
        return JSONResponse({"user": await session.user()})


@asynccontextmanager
async def new_browser(app: Starlette, cookies: dict[str, str] | None = None) -> AsyncIterator[Client]:
    """A browser, perhaps with cookies it came by somehow."""
    transport = httpx.ASGITransport(app)
    async with Client(transport=transport, base_url="http://shop.example", cookies=cookies) as client:
        yield client


class InApp(Fixtures):
    """A subclass brings `sessions`."""

    @pytest.fixture
    def sessions(self) -> Sessions:
        """The layer under test, open."""
        raise NotImplementedError

    @pytest.fixture
    def slow(self) -> Slow:
        """The slow route."""
        return Slow()

    @pytest.fixture
    def app(self, sessions: Sessions, slow: Slow) -> Starlette:
        """The small app."""
        app = Starlette(
            routes=[
                *(Route(f"/{path}", route, methods=["GET", "POST"]) for path, route in _ROUTES.items()),
                Route("/slow", slow.__call__),
            ]
        )
        app.add_middleware(SessionMiddleware, sessions=sessions)
        return app

    @pytest.fixture
    async def browser(self, app: Starlette) -> AsyncIterator[Client]:
        """A browser with a cookie jar of its own."""
        async with new_browser(app) as client:
            yield client
