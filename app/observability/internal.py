"""What only the operator's own machines may ask a replica: ``/metrics``, ``/health``, ``/internal/…``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Final

import orjson
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.observability.about import about
from app.observability.compartments import Compartments
from app.observability.health import Components

METRICS: Final = "/metrics"
HEALTH: Final = "/health"
COMPARTMENTS: Final = "/internal/compartments"
ABOUT: Final = "/internal/about"

_FORWARDED: Final = frozenset({b"x-forwarded-for", b"forwarded", b"via", b"x-real-ip"})

Answer = tuple[str, bytes]
"""Content type and body."""


class Internal:
    """Answers these paths before anything else of the application, and only to whoever asks directly.

    The balancer refuses them from outside. Should it not, a request that says it was forwarded finds
    nothing here either; `/internal/…` answers this machine alone.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        registry: CollectorRegistry,
        components: Components,
        compartments: Compartments,
        replica: str,
    ) -> None:
        self.app = app
        self._registry = registry
        self._components = components
        self._compartments = compartments
        self._replica = replica
        self._answers: Mapping[str, Callable[[], Answer]] = {
            METRICS: self._metrics,
            HEALTH: self._health,
            COMPARTMENTS: self._list,
            ABOUT: self._tell,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        answer = self._answers.get(scope["path"]) if scope["type"] == "http" else None
        if answer is None:
            await self.app(scope, receive, send)
        elif not _may_ask(scope):
            await _say(scope, send, 404, ("text/plain", b"not found\n"))
        elif scope["method"] not in ("GET", "HEAD"):
            await _say(scope, send, 405, ("text/plain", b"method not allowed\n"), (b"allow", b"GET, HEAD"))
        else:
            await _say(scope, send, 200, answer())

    def _metrics(self) -> Answer:
        return CONTENT_TYPE_LATEST, generate_latest(self._registry)

    def _health(self) -> Answer:
        return "application/json", orjson.dumps({"replica": self._replica, **self._components.report()})

    def _list(self) -> Answer:
        found = {"replica": self._replica, "compartments": self._compartments.rows()}
        return "application/json", orjson.dumps(found)

    def _tell(self) -> Answer:
        return "application/json", orjson.dumps({"replica": self._replica, **about()})


def _may_ask(scope: Scope) -> bool:
    if any(name in _FORWARDED for name, _ in scope["headers"]):
        return False
    return not scope["path"].startswith("/internal/") or _is_this_machine(scope)


def _is_this_machine(scope: Scope) -> bool:
    client = scope.get("client")
    try:
        return client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False


async def _say(scope: Scope, send: Send, status: int, answer: Answer, *more: tuple[bytes, bytes]) -> None:
    content_type, body = answer
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
