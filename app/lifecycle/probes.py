"""The two questions a balancer and a supervisor ask, answered from this process's phase alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .phase import Lifecycle

LIVENESS: Final = "/health/liveness"
READINESS: Final = "/health/readiness"


class Probes:
    """Answers the two probes before anything else can; no I/O and no dependency ever takes part.

    Liveness is 200 as long as the process can answer at all. Readiness is 200 while READY and not held out by an
    operator, else 503. Both take GET and HEAD, and carry `headers`. The lifespan of the application passes through here and moves the phase, so the answers hold
    under any ASGI server; `serve` adds the drain.
    """

    def __init__(
        self, app: ASGIApp, *, lifecycle: Lifecycle, headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        self._app = app
        self._lifecycle = lifecycle
        self._headers = tuple(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a probe, hand everything else on."""
        if scope["type"] == "http" and scope["path"] in (LIVENESS, READINESS):
            await self._answer(scope, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, self._noticing_shutdown(receive), self._noticing_startup(send))
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, send: Send) -> None:
        method: str = scope["method"]
        if method not in ("GET", "HEAD"):
            allowed = (b"allow", b"GET, HEAD")
            await _say(send, method, 405, "method not allowed", allowed, *self._headers)
            return
        well = scope["path"] == LIVENESS or self._lifecycle.is_ready
        await _say(send, method, 200 if well else 503, self._lifecycle.word, *self._headers)

    def _noticing_startup(self, send: Send) -> Send:
        async def noticing(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._lifecycle.ready()
            await send(message)

        return noticing

    def _noticing_shutdown(self, receive: Receive) -> Receive:
        async def noticing() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                self._lifecycle.drain()
            return message

        return noticing


async def _say(send: Send, method: str, status: int, word: str, *more: tuple[bytes, bytes]) -> None:
    """One word as text."""
    body = word.encode() + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})
