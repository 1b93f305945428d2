"""The session in an ASGI app: one send wrapper, which writes before the head leaves."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import SessionEnded, SessionError, StoreUnavailable
from .session import Session
from .sessions import Sessions


async def unavailable_plainly(scope: Scope, receive: Receive, send: Send) -> None:
    """503: the store cannot answer; the cookie is kept."""
    text = "The session store cannot answer right now."
    headers = {"Retry-After": "2", "Cache-Control": "no-store"}
    await PlainTextResponse(text, 503, headers)(scope, receive, send)


async def ended_plainly(scope: Scope, receive: Receive, send: Send) -> None:
    """409: the session ended while the request was under way."""
    headers = {"Cache-Control": "no-store"}
    await PlainTextResponse("The session has ended.", 409, headers)(scope, receive, send)


def session_of(connection: HTTPConnection) -> Session:
    """The request's session, as a function or as a dependency."""
    session = connection.scope["session"]
    if not isinstance(session, Session):
        raise TypeError("another middleware put something else into scope['session']")
    return session


class SessionMiddleware:
    """Gives every request its `Session` and answers itself where the session cannot be written.

    `unavailable` and `ended` are the ASGI apps that answer then; both leave the cookie as it is.
    """

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        unavailable: ASGIApp = unavailable_plainly,
        ended: ASGIApp = ended_plainly,
    ) -> None:
        self.app = app
        self._sessions = sessions
        self._unavailable = unavailable
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        scope["session"] = Session(self._sessions, scope)
        if scope["type"] == "websocket":
            # No answer waits for a write or can carry a cookie: what needs one is refused and not lost.
            await scope["session"].seal()
            await self.app(scope, receive, send)
            return
        answer = _Answer(self._instead, scope, receive, send)
        try:
            await self.app(scope, receive, answer.send)
        except (StoreUnavailable, SessionEnded) as error:
            await answer.replace(error)
        except (OSError, ClientDisconnect):
            if not answer.replaced:
                raise

    def _instead(self, error: SessionError) -> ASGIApp:
        return self._unavailable if isinstance(error, StoreUnavailable) else self._ended


class _Answer:
    """The answer on its way out."""

    __slots__ = ("_instead", "_receive", "_scope", "_send", "_session", "_started", "replaced")

    def __init__(
        self, instead: Callable[[SessionError], ASGIApp], scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._instead = instead
        self._scope = scope
        self._session: Session = scope["session"]
        self._receive = receive
        self._send = send
        self._started = False
        self.replaced = False

    async def send(self, message: Message) -> None:
        """Pass a message on; before the head, write the session."""
        if self.replaced:
            if message.get("more_body"):
                # Whoever streams is told as if the client had left, which it knows how to end.
                raise OSError("the answer was replaced")
            return
        if message["type"] == "http.response.start":
            try:
                cookie = await self._session.seal()
            except (StoreUnavailable, SessionEnded) as error:
                await self.replace(error)
                return
            self._started = True
            if self._session.consulted:
                _mark(message, self._session, cookie)
        await self._send(message)

    async def replace(self, error: SessionError) -> None:
        """Answer with what the error calls for; raises it when the head has left."""
        if self._started:
            raise error
        self.replaced = True
        await self._instead(error)(self._scope, self._receive, self._send)


def _mark(message: Message, session: Session, cookie: bytes | None) -> None:
    """Say that the answer depends on the cookie, and keep private ones out of every cache."""
    headers = message["headers"] = list(message.get("headers", ()))
    names = [name for name, _ in headers]
    if b"vary" not in names:
        headers.append((b"vary", b"Cookie"))
    elif b"cookie" not in (line := headers[names.index(b"vary")][1]).lower() and line != b"*":
        headers[names.index(b"vary")] = (b"vary", line + b", Cookie")
    if cookie is not None:
        headers.append((b"set-cookie", cookie))
    if (cookie is not None or session.presented) and b"cache-control" not in names:
        headers.append((b"cache-control", b"private, no-store"))
