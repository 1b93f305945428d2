"""The size of a request's body, announced or streamed."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.answers import refuse
from app.web.edge.requests import header_values
from app.web.errors import BodyTooLarge


class BodyLimit:
    """Refuses a body over `limit` bytes: at once when its length says so, else when it has grown past it.

    Paths that begin as one of `larger` says take as much as it says; their routes read no body before they
    know that whoever sends it may.

    `BodyTooLarge` comes out of `receive`, where the route reads, and is answered like every other refusal.
    An answer that leaves before a chunked body ended closes the connection: nobody reads without end.
    """

    def __init__(self, app: ASGIApp, *, limit: int, larger: Mapping[str, int] | None = None) -> None:
        self.app = app
        self._limit = limit
        self._larger = tuple((larger or {}).items())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a `receive` that counts."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        if _announced(scope) > limit:
            await refuse(scope, receive, send, BodyTooLarge())
        else:
            body = _Body(scope, receive, send, limit=limit)
            await self.app(scope, body.receive, body.send if body.chunked else send)

    def _limit_of(self, path: str) -> int:
        return next((limit for begin, limit in self._larger if path.startswith(begin)), self._limit)


class _Body:
    def __init__(self, scope: Scope, receive: Receive, send: Send, *, limit: int) -> None:
        self.chunked = bool(header_values(scope, b"transfer-encoding"))
        self._receive, self._send = receive, send
        self._left = limit
        self._ended = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._ended = not message.get("more_body", False)
            if self._left < 0:
                raise BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._ended:
            headers = [pair for pair in message.get("headers", ()) if pair[0] != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await self._send(message)


def _announced(scope: Scope) -> int:
    """The largest length that was announced; 18 digits are enough to be too many."""
    lengths = header_values(scope, b"content-length")
    return max((int(length[:18]) for length in lengths if length.isdigit()), default=0)
