"""A small application with every kind of route, and its observability, for the tests."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.observability.observability import Observability, ObservabilityConfig
from app.observability.writer import LineWriter


class Edge:
    """Gives the request an id and an account, as the edge and the session do."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        scope.setdefault("state", {})["request_id"] = headers.get(b"x-request-id", b"r-1").decode("latin-1")
        scope["state"]["account"] = headers.get(b"x-account", b"user:48213").decode("latin-1")
        await self.app(scope, receive, send)


async def _hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def _crash(_: Request) -> Response:
    raise RuntimeError("password=hunter2")


async def _events(_: Request) -> Response:
    async def events() -> AsyncIterator[str]:
        yield "data: hello\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def routes() -> FastAPI:
    """Nested routers, plain routes, mounts."""
    app = FastAPI()
    inner, outer = APIRouter(prefix="/lines/{sku}"), APIRouter(prefix="/api/v1")

    @inner.get("/notes")
    async def notes(sku: str) -> str:
        return sku

    @outer.get("/orders/{order_id}")
    async def order(order_id: str) -> str:
        return order_id

    outer.include_router(inner)
    app.include_router(outer)
    app.add_route("/san-pham/{slug}", _hello)
    app.add_route("/tep/{path:path}", _hello)
    app.add_route("/crash", _crash)
    app.add_route("/events", _events)
    app.router.routes.append(Mount("/shop/{city}", routes=[Route("/stock/{sku}", _hello)]))
    app.router.routes.append(Mount("/static", app=PlainTextResponse("file")))
    return app


@dataclass(frozen=True, slots=True)
class Observed:
    """An application under observation, what it wrote, and a client of it."""

    observability: Observability
    client: httpx.AsyncClient
    writer: LineWriter
    log: Path

    def lines(self) -> list[dict[str, Any]]:
        """The log so far; nothing can be asked afterwards."""
        self.writer.close()
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    async def metrics(self) -> str:
        """What Prometheus would see."""
        return (await self.client.get("/metrics")).text


@asynccontextmanager
async def observed(folder: Path) -> AsyncIterator[Observed]:
    """The application, observed, without a server in between."""
    descriptor = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(descriptor)
    writer.start()
    config = ObservabilityConfig(replica="app1", phase=lambda: "ready", phases=("starting", "ready"))
    observability = Observability(config, writer=writer)
    app = routes()
    app.add_middleware(Edge)
    observability.install(app)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop.example") as client:
        yield Observed(observability, client, writer, folder / "log")
    writer.close()
    os.close(descriptor)
