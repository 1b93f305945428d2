"""Session operations are counted by what came of them, and the log learns whose session it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.observability.logs import current_request
from app.observability.observability import Observability, ObservabilityConfig
from app.sessions import SessionConfig, SessionMiddleware, Sessions, StoreUnavailable, session_of
from tests.conftest import free_port

KEY = "a key of the tests that is long enough to sign with"


async def _log_in(request: Request) -> Response:
    await session_of(request).login("user:48213")
    return PlainTextResponse("welcome")


async def _who(request: Request) -> Response:
    return PlainTextResponse(str(await session_of(request).user()))


async def _leave(request: Request) -> Response:
    await session_of(request).logout()
    return PlainTextResponse("bye")


async def _page(_: Request) -> Response:
    return PlainTextResponse("anybody")


@asynccontextmanager
async def shop(url: str) -> AsyncIterator[tuple[httpx.AsyncClient, list[object]]]:
    """A client of an app whose sessions are measured, and the accounts its requests were told of."""
    observability = Observability(
        ObservabilityConfig(replica="app1", phase=lambda: "ready", phases=("ready",))
    )
    plain = Sessions.from_url(url, keys=[KEY], config=SessionConfig(cookie_secure=False))
    sessions = observability.measured(plain)
    routes = {"/in": _log_in, "/who": _who, "/out": _leave, "/page": _page}
    app = Starlette(routes=[Route(path, endpoint) for path, endpoint in routes.items()])
    app.add_middleware(SessionMiddleware, sessions=sessions)
    observability.install(app)
    await sessions.open()
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
    accounts: list[object] = []

    async def note(_: httpx.Response) -> None:
        state = current_request.get()
        accounts.append(None if state is None else state.get("account"))

    async with httpx.AsyncClient(
        transport=transport, base_url="http://shop.example", event_hooks={"response": [note]}
    ) as client:
        yield client, accounts
    await sessions.close()


async def test_operations_are_counted_and_the_log_is_told_the_account() -> None:
    async with shop("memory://") as (client, accounts):
        for path in ("/page", "/in", "/who", "/page", "/out", "/who"):
            assert (await client.get(path)).status_code == 200
        metrics = (await client.get("/metrics")).text

    assert accounts[:6] == [None, "user:48213", "user:48213", None, None, None]
    assert 'session_operations_total{operation="create",outcome="ok"} 1.0' in metrics
    assert 'session_operations_total{operation="load",outcome="ok"}' in metrics
    assert 'session_operations_total{operation="end",outcome="ok"} 1.0' in metrics
    assert 'compartment_size{compartment="session store",kind="pool"} 1.0' in metrics


async def test_a_store_that_is_away_is_counted_as_such() -> None:
    observability = Observability(
        ObservabilityConfig(replica="app1", phase=lambda: "ready", phases=("ready",))
    )
    url = f"redis://127.0.0.1:{free_port()}/0"
    sessions = observability.measured(Sessions.from_url(url, keys=[KEY]))
    with pytest.raises(StoreUnavailable):
        await sessions.primary.devices("user:1", current=None)
    await sessions.close()
    transport = httpx.ASGITransport(_only(observability), client=("127.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop.example") as client:
        metrics = (await client.get("/metrics")).text

    assert 'session_operations_total{operation="devices",outcome="unavailable"} 1.0' in metrics


def _only(observability: Observability) -> Starlette:
    app = Starlette()
    observability.install(app)
    return app
