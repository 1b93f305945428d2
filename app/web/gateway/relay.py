"""The answer of a service on its way to the client, as fast as both sides can and no faster."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Message, Send

from app.clients.http import Lost
from app.clients.wire import Connection
from app.resilience import Call, TimedOut
from app.web.gateway.headers import Headers, passed_out
from app.web.gateway.upstream import Drained

JUDGED_WITHIN_S: Final = 1.0
"""A body that is cut by then counts against the service; later, a client that reads slowly must not."""

READER_PATIENCE_S: Final = 30.0
"""A client that takes nothing for so long has left its slot to others."""

STREAM_IDLE_S: Final = 300.0
"""An event stream that says nothing for so long, not even a comment, is dead."""

_PRIVATE: Final = (b"cache-control", b"private, no-store")


class Relay:
    """Sends one answer. `has_started`: its head has left, so nothing else can be answered any more."""

    def __init__(
        self, send: Send, *, draining: asyncio.Event, idle_timeout_s: float, is_private: bool
    ) -> None:
        self._send = send
        self._draining = draining
        self._idle_timeout_s = idle_timeout_s
        self._is_private = is_private
        self.has_started = False

    async def answer(self, connection: Connection, call: Call) -> None:
        """Pass the answer on and judge the call; raises `Lost`, `TimedOut` and what the connection was failed with."""
        status = connection.status
        if 300 <= status < 400 and status != 304:
            call.ignore()
            raise Lost(f"redirects (status {status}), which no service behind the gateway may")
        if status >= 500:
            call.fail()
        start = {"type": "http.response.start", "status": status, "headers": self._head(connection)}
        body = await connection.chunk() if connection.has_news else b""
        self.has_started = True
        if connection.has_ended:
            await self._tell(start, {"type": "http.response.body", "body": body})
        else:
            await self._tell(start)
            await self._stream(connection, body, call)

    async def _tell(self, *messages: Message) -> None:
        """Send them to a client that takes them; one that reads nothing is as good as gone."""
        try:
            async with asyncio.timeout(READER_PATIENCE_S):
                for message in messages:
                    await self._send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    def _head(self, connection: Connection) -> Headers:
        headers = passed_out(connection.headers)
        if self._is_private:
            headers = [pair for pair in headers if pair[0] != b"cache-control"]
            headers.append(_PRIVATE)
        length = _length(connection)
        return headers if length is None else [*headers, (b"content-length", length)]

    async def _stream(self, connection: Connection, first: bytes, call: Call) -> None:
        if _is_event_stream(connection.headers):
            call.succeed()
            await self._until_drained(connection, first)
            return
        judged = asyncio.get_running_loop().call_later(JUDGED_WITHIN_S, call.succeed)
        try:
            await self._pass_on(connection, first, idle_s=self._idle_timeout_s)
        finally:
            judged.cancel()

    async def _until_drained(self, connection: Connection, first: bytes) -> None:
        leaving = asyncio.create_task(self._fail_when_drained(connection))
        try:
            await self._pass_on(connection, first, idle_s=STREAM_IDLE_S)
        except Drained:
            await self._tell({"type": "http.response.body", "body": b""})
        finally:
            leaving.cancel()

    async def _fail_when_drained(self, connection: Connection) -> None:
        await self._draining.wait()
        connection.fail(Drained())

    async def _pass_on(self, connection: Connection, first: bytes, *, idle_s: float) -> None:
        chunk = first or await _chunk(connection, idle_s)
        while True:
            message = {"type": "http.response.body", "body": chunk, "more_body": not connection.has_ended}
            await self._tell(message)
            if not message["more_body"]:
                return
            chunk = await _chunk(connection, idle_s)


async def _chunk(connection: Connection, idle_s: float) -> bytes:
    if connection.has_news:
        return await connection.chunk()
    idle = asyncio.get_running_loop().call_later(idle_s, connection.fail, TimedOut(allowed_s=idle_s))
    try:
        return await connection.chunk()
    finally:
        idle.cancel()


def _length(connection: Connection) -> bytes | None:
    """The length as the service says it, which its body has unless it is cut; none where there is no body."""
    if connection.status in (204, 304):
        return None
    return next((value for name, value in connection.headers if name == b"content-length"), None)


def _is_event_stream(headers: Headers) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)
