"""What is being answered right now, and how those answers end a connection while the process drains."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .phase import Lifecycle, Phase


class InFlight:
    """Counts requests; while the process drains, every answer says `Connection: close`.

    A request that outlives the grace and is cut before its answer began gets a 503 with Retry-After: the client
    may try again elsewhere, and nothing of ours failed.
    """

    def __init__(self, app: ASGIApp, *, lifecycle: Lifecycle) -> None:
        self._app = app
        self._lifecycle = lifecycle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, counted."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, self._lifecycle)
        self._lifecycle.in_flight += 1
        try:
            await self._app(scope, receive, answer)
        except asyncio.CancelledError:
            # Only the end of the grace cancels after the drain began; the task ends here, so nobody misses it.
            if self._lifecycle.phase is not Phase.STOPPED:
                raise
            await answer.give_up()
        finally:
            self._lifecycle.in_flight -= 1


class _Answer:
    """One answer on its way out."""

    def __init__(self, send: Send, lifecycle: Lifecycle) -> None:
        self._send = send
        self._lifecycle = lifecycle
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            if self._lifecycle.draining.is_set():
                message = {**message, "headers": _closing(message)}
        await self._send(message)

    async def give_up(self) -> None:
        """Tell the client to come again, if it was told nothing yet; a begun answer is cut by the server."""
        if self._begun:
            return
        body = b"stopping\n"
        headers = [
            (b"content-type", b"text/plain"),
            (b"content-length", b"%d" % len(body)),
            (b"retry-after", b"1"),
        ]
        await self({"type": "http.response.start", "status": 503, "headers": headers})
        await self({"type": "http.response.body", "body": body})


def _closing(message: Message) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"connection"]
    return [*kept, (b"connection", b"close")]
