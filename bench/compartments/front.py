"""The process under test: two routes, each of which asks a dependency, wired in one of two ways.

``own``     each dependency has its slots, breaker, deadline and pool, as the shop's payments have
``shared``  both share one pool of connections, and a time limit on each answer, as most programs begin
"""

from __future__ import annotations

import argparse
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.clients.http import Connections, HttpError
from app.clients.pool import CountingConnector
from app.lifecycle import Lifecycle, LifecycleConfig, Phase, Probes, serve
from app.observability.observability import Observability, ObservabilityConfig
from app.observability.sources import http_pool
from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    DeadlineExceeded,
    Guard,
    Refused,
)

POOL: Final = 10
PATIENCE_S: Final = 5.0
"""How long an answer of a dependency may take, in both wirings."""

Ask = Callable[[str], Awaitable[Response]]


def own(name: str, url: str, observability: Observability) -> tuple[Ask, Connections]:
    """A dependency in a compartment of its own."""
    watch = observability.resilience
    connections = Connections(url, pool_size=POOL)
    slots = Bulkhead(name, BulkheadConfig(max_concurrent_calls=POOL), listeners=[watch])
    config = BreakerConfig(
        minimum_number_of_calls=10, sliding_window_size=20, wait_duration_in_open_state_s=2
    )
    guard = Guard(
        slots=slots,
        breaker=Breaker(name, config, listeners=[watch]),
        timeout_s=PATIENCE_S,
        pool_size=POOL,
    )
    watch.add(slots, guard.breaker)
    observability.compartments.add(watch.slots(slots, shared_by=[name], dies=name))

    async def ask(path: str) -> Response:
        try:
            async with guard.call():
                answer = await connections.send("GET", path, headers={})
        except Refused as refused:
            retry = {"Retry-After": str(math.ceil(refused.retry_after_s))}
            return PlainTextResponse("refused", 503, retry)
        except (DeadlineExceeded, HttpError):
            return PlainTextResponse("no answer", 504)
        return PlainTextResponse(answer.body)

    return ask, connections


def shared(connections: Connections, url: str) -> tuple[Ask, Callable[[], Awaitable[None]]]:
    """All dependencies on one pool."""
    session: aiohttp.ClientSession | None = None

    async def ask(path: str) -> Response:
        nonlocal session
        session = session or aiohttp.ClientSession(
            connector=CountingConnector(connections.places, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(sock_read=PATIENCE_S),
        )
        try:
            async with session.get(url + path) as answer:
                return PlainTextResponse(await answer.read())
        except aiohttp.ClientError:
            return PlainTextResponse("no answer", 504)

    async def close() -> None:
        if session is not None:
            await session.close()

    return ask, close


def build(wiring: str, url: str, lifecycle: Lifecycle) -> Starlette:
    """``/pay?ms=…`` and ``/reviews?ms=…``: the dependency answers after so many milliseconds."""
    observability = Observability(
        ObservabilityConfig(
            replica=wiring, phase=lambda: lifecycle.phase.value, phases=[phase.value for phase in Phase]
        )
    )
    asks, closes = _wired(wiring, url, observability)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with observability.running():
            yield
        for close in closes:
            await close()

    def route(name: str) -> Route:
        async def asking(request: Request) -> Response:
            return await asks[name](f"/wait/{int(request.query_params['ms'])}")

        return Route(f"/{name}", asking)

    app = Starlette(routes=[route(name) for name in asks], lifespan=lifespan)
    observability.install(app)
    app.add_middleware(Probes, lifecycle=lifecycle)
    return app


def _wired(
    wiring: str, url: str, observability: Observability
) -> tuple[dict[str, Ask], list[Callable[[], Awaitable[None]]]]:
    if wiring == "own":
        both = {name: own(name, url, observability) for name in ("pay", "reviews")}
        return {name: ask for name, (ask, _) in both.items()}, [one.close for _, one in both.values()]
    connections = Connections(url, pool_size=2 * POOL)
    users = ["pay", "reviews"]
    observability.compartments.add(http_pool("shared", connections, shared_by=users, dies="the other"))
    ask, close = shared(connections, url)
    return dict.fromkeys(users, ask), [close]


def main() -> int:
    """Serve until a signal says stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wiring", choices=["own", "shared"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--downstream", required=True)
    given = parser.parse_args()
    lifecycle = Lifecycle(LifecycleConfig())
    app = build(given.wiring, given.downstream, lifecycle)
    return serve(app, lifecycle, host="127.0.0.1", port=given.port)


if __name__ == "__main__":
    raise SystemExit(main())
