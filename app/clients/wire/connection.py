"""One connection: one exchange at a time, parsed by llhttp, with backpressure both ways.

It is `is_reusable` only after an exchange that both sides ended as they announced. Whatever else happens, a cancelled
caller or an answer that nobody asked for, the connection is closed and never used again, so no answer can
reach the wrong caller.
"""

from __future__ import annotations

import asyncio
from typing import Final, TypeAlias, cast

import httptools

from app.clients.http import Lost

Headers: TypeAlias = list[tuple[bytes, bytes]]

HEAD_MOST: Final = 32 * 1024
"""Bytes of an answer's head; a service that sends more is out of order."""

HEADERS_MOST: Final = 128

BUFFER_MOST: Final = 64 * 1024
"""Bytes of a body that wait for their reader; then the service is not read any further."""


class Connection(asyncio.Protocol):
    """A connection to a service; made by the loop, used by one caller at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._body: list[bytes] = []
        self._buffered = 0
        self._is_paused = False
        self._failure: Exception | None = None
        self._is_busy = False
        self._begin(is_head=False)
        self.idle_since = 0.0

    def _begin(self, *, is_head: bool) -> None:
        self.status = 0
        self.headers: Headers = []
        self.has_heard = False
        self._is_head_request = is_head
        self._head_bytes = self._header_bytes = 0
        self._head_done = self._ended = self._until_close = False
        self._keeps = self._has_sent = False

    # What the caller does.

    @property
    def is_open(self) -> bool:
        """Whether it can still be written to, as far as this side knows."""
        return self._failure is None and self._transport is not None and not self._transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """Whether the last exchange is over and another may follow."""
        return self._ended and self._keeps and self._has_sent and not self._body and self.is_open

    @property
    def has_head(self) -> bool:
        """Whether the head of the answer is here."""
        return self._head_done

    @property
    def is_blocked(self) -> bool:
        """Whether the service does not read what it is sent."""
        return self._writable is not None

    @property
    def has_ended(self) -> bool:
        """Whether the whole answer is here and was read."""
        return self._ended and not self._body

    @property
    def has_news(self) -> bool:
        """Whether `chunk` would answer at once."""
        return bool(self._body) or self._ended or self._failure is not None

    def begin(self, head: bytes, *, is_head: bool) -> None:
        """Send the head of a request."""
        self._begin(is_head=is_head)
        self._is_busy = True
        self._write(head)

    async def send(self, data: bytes) -> None:
        """Send a part of the body, once there is room for it; raises `Lost`, or what it was failed with."""
        while self._writable is not None and self._failure is None:
            await asyncio.shield(self._writable)
        if self._failure is not None:
            raise self._failure
        self._write(data)

    def sent(self) -> None:
        """The request is complete."""
        self._has_sent = True

    async def head(self) -> None:
        """Return once `status` and `headers` are there; raises `Lost`, or what it was failed with."""
        while not self._head_done:
            if self._failure is not None:
                raise self._failure
            await self._wait()

    async def chunk(self) -> bytes:
        """More of the body, or b"" at its end; raises `Lost` where it was cut, or what it was failed with."""
        while not self._body:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return b""
            await self._wait()
        data = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        self._buffered = 0
        self._resume()
        return data

    def fail(self, reason: Exception) -> None:
        """Close at once; whoever waits for this connection gets the reason."""
        if self._failure is None:
            self._failure = reason
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    def close(self) -> None:
        """Close at once; for a connection that nobody waits for."""
        self.fail(Lost("the connection was closed"))

    def rest(self) -> None:
        """Nobody uses it any more; what the service says now, nobody asked for."""
        self._is_busy = False
        self.idle_since = self._loop.time()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        for waiter in (self._waiter, self._writable):
            if waiter is not None and not waiter.done():
                waiter.set_result(None)

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    # What the loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed: the end of an answer that lasts as long as its connection, else a cut."""
        if exc is None and self._head_done and self._until_close:
            self._ended = True
        elif not self._ended and self._failure is None:
            self._failure = Lost(f"the connection was lost: {exc or 'closed by the service'}")
        self._wake()

    def pause_writing(self) -> None:
        """The service reads slowly."""
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """It has caught up."""
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Parse; what cannot be an answer to the question ends the connection."""
        if not self._is_busy:
            self.fail(Lost("the service spoke unasked"))
            return
        self.has_heard = True
        if not self._head_done:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as garbled:
            self.fail(_cause(garbled))
            return
        if not self._head_done and self._head_bytes > HEAD_MOST:
            self.fail(Lost(f"the head of the answer is longer than {HEAD_MOST} bytes"))
        self._wake()

    # What the parser tells.

    def on_message_begin(self) -> None:
        """A head begins: the answer, or an interim one before it."""
        if self._ended:
            raise Lost("a second answer followed the first")
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers, which come after the head, are left out."""
        if self._head_done:
            return
        self._header_bytes += len(name) + len(value)
        if len(self.headers) >= HEADERS_MOST or self._header_bytes > HEAD_MOST:
            raise Lost(f"the answer has more than {HEADERS_MOST} headers or {HEAD_MOST} bytes of them")
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is there, unless it was an interim one."""
        status = self._parser.get_status_code()
        if status == 101 or not 100 <= status <= 599:
            raise Lost(f"answered with status {status}")
        if status < 200:
            return
        self.status = status
        self._keeps = self._parser.should_keep_alive()
        self._head_done = True
        has_no_body = self._is_head_request or status in (204, 304)
        self._until_close = not has_no_body and not _is_framed(self.headers)
        if self._is_head_request:
            # The parser waits for the body that a HEAD announces; the next answer needs another one.
            self._parser = httptools.HttpResponseParser(self)
            self._ended = True

    def on_body(self, data: bytes) -> None:
        """Keep a part of the body; past what may wait, stop reading."""
        if self._is_head_request:
            raise Lost("a body followed the answer to a HEAD")
        self._body.append(data)
        self._buffered += len(data)
        if self._buffered > BUFFER_MOST and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        """The answer ended as it had announced."""
        if self._head_done:
            self._ended = True


def _is_framed(headers: Headers) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in headers)


def _cause(garbled: Exception) -> Lost:
    """What a callback of ours refused, or the parser."""
    refused = garbled.__context__
    return refused if isinstance(refused, Lost) else Lost(f"what came is no HTTP: {garbled}")
