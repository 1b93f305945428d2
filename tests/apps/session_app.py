"""A small app with a session, as any engineer would write it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.sessions import Refused, SessionConfig, SessionMiddleware, Sessions, session_of

KEYS = ["current key of thirty-two bytes!!", "older key of thirty-two bytes too"]
# More patient than the default: the tests share their machine with others.
CONFIG = SessionConfig(namespace="test:session", cookie_secure=False, timeout=timedelta(seconds=1))


async def plain(request: Request) -> JSONResponse:
    return JSONResponse({"presented": session_of(request).presented})


async def cart(request: Request) -> JSONResponse:
    session = session_of(request)
    return JSONResponse({"user": await session.user(), "lines": await session.items("cart:")})


async def add(request: Request) -> JSONResponse:
    line = f"cart:{request.query_params.get('sku', 'A')}"
    try:
        quantity = await session_of(request).increment(line, 1, high=9999)
    except Refused as refused:
        return JSONResponse({"refused": str(refused)}, 422)
    return JSONResponse({"quantity": quantity})


async def note(request: Request) -> JSONResponse:
    await session_of(request).set("note", request.query_params["text"])
    return JSONResponse({})


async def login(request: Request) -> JSONResponse:
    await session_of(request).login(request.query_params.get("user", "user:1"))
    return JSONResponse({})


async def logout(request: Request) -> JSONResponse:
    await session_of(request).logout()
    return JSONResponse({})


async def devices(request: Request) -> JSONResponse:
    return JSONResponse([device.current for device in await session_of(request).devices()])


async def others(request: Request) -> JSONResponse:
    return JSONResponse({"epoch": await session_of(request).end_others()})


def app_on(sessions: Sessions) -> Starlette:
    """The app."""
    views: list[Callable[..., object]] = [plain, cart, add, note, login, logout, devices, others]
    app = Starlette(routes=[Route(f"/{view.__name__}", view, methods=["GET", "POST"]) for view in views])
    app.add_middleware(SessionMiddleware, sessions=sessions)
    return app


@asynccontextmanager
async def serving(url: str, config: SessionConfig = CONFIG) -> AsyncIterator[Callable[[], httpx.AsyncClient]]:
    """The app on that backend, as a maker of browsers."""
    sessions = Sessions.from_url(url, keys=KEYS, config=config)
    app = app_on(sessions)
    await sessions.open()
    try:
        yield lambda: httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop.example")
    finally:
        await sessions.close()


def short(*, idle_timeout: timedelta, absolute_timeout: timedelta) -> SessionConfig:
    """Other limits than the defaults."""
    return replace(CONFIG, idle_timeout=idle_timeout, absolute_timeout=absolute_timeout)
