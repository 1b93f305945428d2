"""Honouring the caller's deadline in an ASGI app: work that nobody waits for stops."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from . import deadline
from .errors import DeadlineExceeded

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAME = deadline.HEADER.lower().encode()


class DeadlineMiddleware:
    """Gives every request a budget: what `X-Request-Deadline-Ms` says, never more than `most_s`.

    A request whose time is over is answered 504 and its work is cancelled, as if the client had left. Use it
    where the header comes from our own callers; `trusted=False` ignores the header and keeps the limit.
    """

    def __init__(self, app: App, *, most_s: float = 30.0, trusted: bool = True) -> None:
        self._app = app
        self._most_s = most_s
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on within the budget."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            async with deadline.spend(self._granted_s(scope)):
                await self._app(scope, receive, answer)
        except DeadlineExceeded:
            if answer.is_started:
                raise  # half an answer must not look whole: the server cuts the connection
            await answer.gateway_timeout()

    def _granted_s(self, scope: Scope) -> float:
        if not self._trusted:
            return self._most_s
        raw = next((value for name, value in scope["headers"] if name == _NAME), None)
        asked = None if raw is None else deadline.parse(raw.decode("latin-1"))
        return self._most_s if asked is None else min(asked, self._most_s)


class _Answer:
    """The send side, which remembers whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_started = False

    async def __call__(self, message: Message) -> None:
        self.is_started = True
        await self._send(message)

    async def gateway_timeout(self) -> None:
        """A 504 of our own."""
        body = (
            b'{"type": "about:blank", "title": "Gateway Timeout", "status": 504, "code": "deadline_exceeded"}'
        )
        head = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": 504, "headers": head})
        await self._send({"type": "http.response.body", "body": body})
