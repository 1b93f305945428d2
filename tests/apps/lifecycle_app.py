"""A small application under `app.lifecycle.serve`, run as a process: ``python -m tests.apps.lifecycle_app PORT``.

It writes what happens to it, one word a line, to standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.lifecycle import Lifecycle, LifecycleConfig, Notifier, Probes, WatchdogConfig, serve


def say(word: str) -> None:
    """For the test to read."""
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def build(lifecycle: Lifecycle, start_s: float) -> Starlette:  # noqa: C901 -- small routes in one place
    """Routes that take their time in every way."""
    eaten: list[bytes] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        say("starting")
        if start_s < 0:
            raise RuntimeError("the database is not there")
        await asyncio.sleep(start_s)
        yield
        await asyncio.sleep(0.05)
        say("cleaned")

    async def hello(_: Request) -> Response:
        return PlainTextResponse("hello")

    async def slow(request: Request) -> Response:
        say("began")
        try:
            await asyncio.sleep(float(request.query_params["s"]))
        except asyncio.CancelledError:
            say("cut")
            raise
        return PlainTextResponse("done")

    async def later(request: Request) -> Response:
        async def work() -> None:
            await asyncio.sleep(float(request.query_params["s"]))
            say("worked")

        return PlainTextResponse("accepted", background=BackgroundTask(work))

    async def events(_: Request) -> Response:
        async def stream() -> AsyncIterator[str]:
            yield "data: hello\n\n"
            await lifecycle.draining.wait()
            yield "data: bye\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def body(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    async def block(request: Request) -> Response:
        time.sleep(float(request.query_params["s"]))  # noqa: ASYNC251 -- to block the loop is the point
        return PlainTextResponse("blocked")

    async def eat(request: Request) -> Response:
        eaten.append(b"x" * (int(request.query_params["mb"]) * 1024 * 1024))
        return PlainTextResponse("eaten")

    async def connections(_: Request) -> Response:
        gc.collect()
        # Foreign objects may raise from isinstance's look at __class__; type() asks nobody.
        alive = sum(issubclass(type(thing), HttpToolsProtocol) for thing in gc.get_objects())
        return JSONResponse({"connections": alive, "in_flight": lifecycle.in_flight})

    routes = [
        Route("/", hello),
        Route("/slow", slow),
        Route("/later", later),
        Route("/events", events),
        Route("/body", body, methods=["POST"]),
        Route("/connections", connections),
        Route("/block", block),
        Route("/eat", eat),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def main() -> int:
    """Parse, build, serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--grace", type=float, default=5.0)
    parser.add_argument("--start", type=float, default=0.0)
    parser.add_argument("--loop-limit", type=float, default=15.0)
    parser.add_argument("--memory-limit", type=int)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    config = LifecycleConfig(
        drain_delay=timedelta(seconds=given.delay), shutdown_grace=timedelta(seconds=given.grace)
    )
    lifecycle = Lifecycle(config)
    app = Probes(build(lifecycle, given.start), lifecycle=lifecycle)
    watchdog = WatchdogConfig(loop_limit=timedelta(seconds=given.loop_limit), memory_limit=given.memory_limit)
    notifier = Notifier.asked_for(os.environ)
    return serve(app, lifecycle, host="127.0.0.1", port=given.port, watchdog=watchdog, notifier=notifier)


if __name__ == "__main__":
    raise SystemExit(main())
