"""Chợ Phố's session library under plain Starlette routes, on the server that replicas run on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.lifecycle import Lifecycle, LifecycleConfig, serve
from app.sessions import SessionConfig, SessionMiddleware, Sessions, session_of

sessions = Sessions.from_url(
    os.environ["BENCH_REDIS"],
    keys=["bench-" * 8],
    also_accept=os.environ.get("BENCH_ALSO_ACCEPT"),
    config=SessionConfig(
        namespace="ours", cookie_name="sid", cookie_secure=False, idle_timeout=timedelta(minutes=30)
    ),
)

AT_ONCE = LifecycleConfig(drain_delay=timedelta(0))
"""No balancer is to be told."""


def answer(value: object) -> Response:
    """JSON, as the shop's own hot routes write it."""
    return Response(orjson.dumps(value), media_type="application/json")


class HotRoute:
    """A view that Starlette routes to and calls as an app, as the shop's hot routes are."""

    def __init__(self, view: Callable[[Request], Awaitable[Response]]) -> None:
        self.__name__ = view.__name__
        self._view = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        response = await self._view(Request(scope, receive, send))
        await response(scope, receive, send)


async def fill(request: Request) -> Response:
    """A session with an identity and n lines."""
    session = session_of(request)
    await session.login(request.query_params.get("user", "user:48213"))
    for number in range(int(request.query_params["n"])):
        await session.set(f"line:SKU-{number:05}", number + 1)
    return answer({})


@HotRoute
async def cart(request: Request) -> Response:
    """The lines."""
    lines = await session_of(request).items("line:")
    return answer([{"sku": name, "quantity": quantity} for name, quantity in lines.items()])


async def put(request: Request) -> Response:
    """One more key."""
    await session_of(request).set(f"line:{request.query_params['key']}", 1)
    return answer({})


async def add(request: Request) -> Response:
    """One more of a line; the answer is how many there are."""
    return answer(await session_of(request).increment(f"line:{request.query_params['sku']}"))


async def login(request: Request) -> Response:
    """From anonymous to somebody."""
    await session_of(request).login(request.query_params["user"])
    return answer({})


async def me(request: Request) -> Response:
    """Who is logged in."""
    return answer({"user": await session_of(request).user()})


async def slow(request: Request) -> Response:
    """Read the session, then take a while."""
    user = await session_of(request).user()
    await asyncio.sleep(0.3)
    return answer({"user": user})


async def logout(request: Request) -> Response:
    """End the session."""
    await session_of(request).logout()
    return answer({})


@HotRoute
async def plain(request: Request) -> Response:  # noqa: ARG001 -- the same route without a session
    """Ten lines that nobody had to look up."""
    return answer([{"sku": f"line:SKU-{number:05}", "quantity": number + 1} for number in range(10)])


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """Sessions are open while the app runs."""
    await sessions.open()
    yield
    await sessions.close()


app = Starlette(
    routes=[
        Route(f"/{route.__name__}", route) for route in (cart, plain, fill, put, add, login, me, slow, logout)
    ],
    lifespan=lifespan,
)
app.add_middleware(SessionMiddleware, sessions=sessions)

if __name__ == "__main__":
    sys.exit(serve(app, Lifecycle(AT_ONCE), host="127.0.0.1", port=int(os.environ["BENCH_PORT"])))
