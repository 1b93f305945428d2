"""The phases, the probes and the in-flight count, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.lifecycle import InFlight, Lifecycle, LifecycleConfig, Phase, Probes


@asynccontextmanager
async def client_of(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop.test") as client:
        yield client


def probed(lifecycle: Lifecycle) -> ASGIApp:
    """An application that answers 418 to everything, and the probes in front of it."""

    async def refuse(_: Request) -> Response:
        return PlainTextResponse("mine", 418)

    return Probes(Starlette(routes=[Route("/{rest:path}", refuse)]), lifecycle=lifecycle)


def in_phase(phase: Phase) -> Lifecycle:
    lifecycle = Lifecycle()
    moves = {
        Phase.STARTING: [],
        Phase.READY: [lifecycle.ready],
        Phase.DRAINING: [lifecycle.ready, lifecycle.drain],
        Phase.STOPPED: [lifecycle.ready, lifecycle.drain, lifecycle.stop],
    }
    for move in moves[phase]:
        move()
    assert lifecycle.phase is phase
    return lifecycle


@pytest.mark.parametrize(
    ("phase", "readiness"),
    [(Phase.STARTING, 503), (Phase.READY, 200), (Phase.DRAINING, 503), (Phase.STOPPED, 503)],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_readiness_follows_the_phase_and_liveness_does_not(
    phase: Phase, readiness: int, method: str
) -> None:
    async with client_of(probed(in_phase(phase))) as client:
        asked = await client.request(method, "/health/readiness")
        alive = await client.request(method, "/health/liveness")
    assert (asked.status_code, alive.status_code) == (readiness, 200)
    assert asked.text == (f"{phase.value}\n" if method == "GET" else "")
    assert asked.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/health/liveness", "/health/readiness"])
@pytest.mark.parametrize("method", ["OPTIONS", "POST", "DELETE"])
async def test_probes_name_the_methods_they_take(path: str, method: str) -> None:
    async with client_of(probed(in_phase(Phase.READY))) as client:
        answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_everything_else_is_the_applications() -> None:
    async with client_of(probed(in_phase(Phase.STARTING))) as client:
        assert (await client.get("/health")).status_code == 418
        assert (await client.get("/health/liveness/")).status_code == 418


async def test_a_late_start_does_not_undo_a_drain() -> None:
    lifecycle = Lifecycle()
    lifecycle.drain()
    lifecycle.ready()
    assert lifecycle.phase is Phase.DRAINING
    assert lifecycle.draining.is_set()


async def test_a_stopped_process_stays_stopped() -> None:
    lifecycle = in_phase(Phase.STOPPED)
    lifecycle.drain()
    assert lifecycle.phase is Phase.STOPPED


def test_negative_durations_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        LifecycleConfig(drain_delay=timedelta(seconds=-1))


async def test_the_lifespan_moves_the_phase_under_any_server() -> None:
    lifecycle = Lifecycle()
    phases: list[Phase] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        phases.append(lifecycle.phase)
        yield
        phases.append(lifecycle.phase)

    app = Probes(Starlette(lifespan=lifespan), lifecycle=lifecycle)
    asked: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    told: asyncio.Queue[object] = asyncio.Queue()
    running = asyncio.create_task(app({"type": "lifespan"}, asked.get, told.put))
    await asked.put({"type": "lifespan.startup"})
    await told.get()
    phases.append(lifecycle.phase)
    await asked.put({"type": "lifespan.shutdown"})
    await running
    assert phases == [Phase.STARTING, Phase.READY, Phase.DRAINING]


async def test_requests_are_counted_while_they_run_and_not_after_they_fail() -> None:
    lifecycle = in_phase(Phase.READY)
    seen: list[int] = []

    async def count(request: Request) -> Response:
        seen.append(lifecycle.in_flight)
        if request.url.path == "/broken":
            raise LookupError
        return PlainTextResponse("ok")

    app = InFlight(Starlette(routes=[Route("/{rest:path}", count)]), lifecycle=lifecycle)
    async with client_of(app) as client:
        await client.get("/")
        with pytest.raises(LookupError):
            await client.get("/broken")
    assert (seen, lifecycle.in_flight) == ([1, 1], 0)


async def test_answers_close_the_connection_from_the_drain_on() -> None:
    lifecycle = in_phase(Phase.READY)
    app = InFlight(probed(lifecycle), lifecycle=lifecycle)
    async with client_of(app) as client:
        assert "connection" not in (await client.get("/")).headers
        lifecycle.drain()
        assert (await client.get("/")).headers["connection"] == "close"
        assert (await client.get("/health/readiness")).headers["connection"] == "close"


async def test_a_client_that_goes_away_is_a_cancellation_like_any_other() -> None:
    lifecycle = in_phase(Phase.DRAINING)

    async def sleep(_: Request) -> Response:
        await asyncio.sleep(60)
        raise AssertionError

    app = InFlight(Starlette(routes=[Route("/", sleep)]), lifecycle=lifecycle)
    async with client_of(app) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.get("/")
    assert lifecycle.in_flight == 0
