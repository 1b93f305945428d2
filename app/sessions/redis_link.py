"""One connection to a Redis server that many requests share.

Commands of one turn of the event loop leave in one write; replies are matched in order. Nobody reads from
the connection but the connection itself, so a cancelled request leaves only a reply that is thrown away.
Nothing is ever sent twice.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final, cast

import hiredis

from .errors import StoreUnavailable

Reply = Any
"""What the server said: bytes, int, None, a list of these, or a `ReplyError`."""

_GRACE_S: Final = 0.005
"""After a stall of our own loop, replies that lie in the socket are read before anybody is blamed."""

_MISSING: Final = object()

_MOVED_ON: Final = frozenset({"READONLY", "NOAUTH", "NOPERM", "WRONGPASS", "MASTERDOWN"})
"""Answers after which another connection may reach a better server or know a better password."""

# Redis 6 wraps what a command inside a script answered into a text of its own.
_WRAPPED: Final = ("WRONGTYPE", "OOM", "READONLY", "MISCONF", "NOREPLICAS")


class ReplyError(Exception):
    """The server refused one command; `code` says why in one word of its own."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        first = text.partition(" ")[0]
        wrapped = (code for code in _WRAPPED if f"{code} " in text)
        self.code = next(wrapped, first) if first == "ERR" else first


class _Waiting:
    """The replies that one caller waits for."""

    __slots__ = ("deadline", "future", "replies", "wanted")

    def __init__(self, future: asyncio.Future[list[Reply]], wanted: int, deadline: float) -> None:
        self.future = future
        self.wanted = wanted
        self.deadline = deadline
        self.replies: list[Reply] = []


class Link(asyncio.Protocol):
    """The connection. Once broken it stays broken, and everybody who waits is told."""

    def __init__(self, timeout_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._reader = hiredis.Reader(replyError=ReplyError, notEnoughData=_MISSING)
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[_Waiting] = deque()
        self._outgoing: list[bytes] = []
        self._watch: asyncio.TimerHandle | None = None
        self.closed = self._loop.create_future()

    @property
    def usable(self) -> bool:
        """Whether commands can be sent."""
        return self._transport is not None

    def send(self, packed: bytes, wanted: int) -> asyncio.Future[list[Reply]]:
        """Send commands; the future brings their replies or `StoreUnavailable` in time."""
        future: asyncio.Future[list[Reply]] = self._loop.create_future()
        if self._transport is None:
            future.set_exception(StoreUnavailable("the connection is lost"))
            return future
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(packed)
        deadline = self._loop.time() + self._timeout_s
        self._waiting.append(_Waiting(future, wanted, deadline))
        if self._watch is None:
            self._watch = self._loop.call_at(deadline, self._look, False)  # noqa: FBT003 - call_at takes no keywords
        return future

    def abort(self, reason: str) -> None:
        """Break the connection now."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        self._fail(reason)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """From here on commands can be sent."""
        # uvloop's transports are not of asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand out replies in the order of the commands."""
        try:
            self._reader.feed(data)
            gets, moved_on = self._reader.gets, None
            while (reply := gets()) is not _MISSING:
                waiting = self._waiting[0]
                waiting.replies.append(reply)
                if len(waiting.replies) == waiting.wanted:
                    self._waiting.popleft()
                    if not waiting.future.done():
                        waiting.future.set_result(waiting.replies)
                if reply.__class__ is ReplyError and reply.code in _MOVED_ON:
                    moved_on = reply.code
            if moved_on is not None:
                self.abort(moved_on)
        except (hiredis.ProtocolError, LookupError) as broken:
            self.abort(f"unreadable reply: {broken}")

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody who waits."""
        self._transport = None
        self._fail(f"connection lost: {exc}" if exc else "connection closed by the server")
        if not self.closed.done():
            self.closed.set_result(None)

    def _flush(self) -> None:
        packed, self._outgoing = b"".join(self._outgoing), []
        if self._transport is not None:
            self._transport.write(packed)

    def _look(self, warned: bool) -> None:  # noqa: FBT001 - called by the loop's timer
        self._watch = None
        if not self._waiting:
            return
        deadline = self._waiting[0].deadline
        late = self._loop.time() >= deadline
        if late and warned:
            self.abort("no answer in time")
            return
        again = self._loop.time() + _GRACE_S if late else deadline
        self._watch = self._loop.call_at(again, self._look, late)

    def _fail(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, deque()
        self._outgoing.clear()
        for one in waiting:
            if not one.future.done():
                one.future.set_exception(StoreUnavailable(reason))
