"""One log line and one count for each request."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.observability.http_metrics import HttpMetrics, bounded_method
from app.observability.lines import Value, line
from app.observability.logs import current_request, timestamp
from app.observability.templates import RouteTemplates
from app.observability.writer import LineWriter

CLIENT_LEFT: Final = 499
"""nginx's word for a request that was given up before its answer began."""

_HARMLESS: Final = re.compile(r"[\w.:-]{1,64}", re.ASCII)


class RequestLog:
    """Writes what happened to each request, without a path, a query, a header or a body.

    It is meant to be outside everything that may answer, so that refusals of the edge are seen too. The
    request id and the account are those that others put into the scope's state.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: HttpMetrics,
        writer: LineWriter | None,
        replica: str,
    ) -> None:
        self.app = app
        self._metrics = metrics
        self._writer = writer
        self._replica = replica
        self._templates: RouteTemplates | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and remember its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        answer = _Answer(send)
        current_request.set(scope.setdefault("state", {}))
        self._metrics.begun()
        try:
            await self.app(scope, receive, answer.send)
        except asyncio.CancelledError:
            answer.status = answer.status or CLIENT_LEFT
            raise
        finally:
            self._note(scope, answer, time.perf_counter() - started)

    def _note(self, scope: Scope, answer: _Answer, duration_s: float) -> None:
        status = answer.status or 500  # nothing was said: whoever is outside will say this
        method = bounded_method(scope["method"])
        route = self._template(scope)
        self._metrics.ended(method, route, status, None if answer.streamed else duration_s)
        if self._writer is not None:
            self._writer.write(line(self._fields(scope, method, route, status, duration_s)))

    def _fields(
        self, scope: Scope, method: str, route: str, status: int, duration_s: float
    ) -> dict[str, Value]:
        client = scope.get("client")
        return {
            "time": timestamp(time.time()),
            "level": "info",
            "logger": "request",
            "replica": self._replica,
            "message": "request",
            "request_id": _harmless(scope["state"].get("request_id")),
            "account": _harmless(scope["state"].get("account")),
            "client": _harmless(client[0]) if client else None,
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(duration_s * 1000, 2),
        }

    def _template(self, scope: Scope) -> str:
        if self._templates is None:
            self._templates = RouteTemplates(scope["app"].routes)
        return self._templates.template_of(scope)


class _Answer:
    """What is seen of an answer as it leaves."""

    __slots__ = ("_send", "status", "streamed")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.streamed = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.streamed = _is_event_stream(message)
        await self._send(message)


def _is_event_stream(head: Message) -> bool:
    for name, value in head.get("headers", ()):
        if name == b"content-type":
            return bool(value.startswith(b"text/event-stream"))
    return False


def _harmless(found: object) -> str | None:
    """The text if it can only be an id, an address or a reference."""
    if found is None:
        return None
    return found if isinstance(found, str) and _HARMLESS.fullmatch(found) else "[odd]"
