"""What the fleet needs of a replica and no shop: ``python -m tests.apps.shop_stub --host H --port P``.

It serves under `app.lifecycle.serve` with the settings the fleet gives it, as the shop does.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import time
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.lifecycle import Lifecycle, LifecycleConfig, Probes, serve
from app.settings import Settings, read


def build(settings: Settings, counted: Path | None) -> Starlette:
    """Says who served it, what arrived, and takes its time when asked to."""
    served_by = {"X-Served-By": settings.replica_name or "?"}

    async def hello(_: Request) -> Response:
        return PlainTextResponse("xin chào", headers=served_by)

    async def headers(request: Request) -> Response:
        return JSONResponse(request.headers.items(), headers=served_by)

    async def slow(request: Request) -> Response:
        if counted is not None:
            with counted.open("a") as file:
                file.write(f"{settings.replica_name} {request.method}\n")
        await asyncio.sleep(float(request.query_params["s"]))
        return PlainTextResponse("done", headers=served_by)

    async def block(request: Request) -> Response:
        time.sleep(float(request.query_params["s"]))  # noqa: ASYNC251 -- to block the loop is the point
        return PlainTextResponse("blocked", headers=served_by)

    async def body(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())), headers=served_by)

    return Starlette(
        routes=[
            Route("/", hello),
            Route("/headers", headers),
            Route("/slow", slow, methods=["GET", "POST"]),
            Route("/block", block),
            Route("/body", body, methods=["POST"]),
        ]
    )


def main() -> int:
    """Serve one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--count-in", type=Path)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    settings = read(Settings)
    config = LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    lifecycle = Lifecycle(config)
    app = Probes(build(settings, given.count_in), lifecycle=lifecycle)
    return serve(app, lifecycle, host=given.host, port=given.port)


if __name__ == "__main__":
    raise SystemExit(main())
