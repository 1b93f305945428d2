"""One request and its answer on a connection of the pool."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Self

from app.clients.http import Lost
from app.clients.wire.connection import Connection
from app.clients.wire.pool import WirePool
from app.resilience import TimedOut

REPEATABLE: Final = frozenset({"GET", "HEAD"})
"""Sent once more where a kept connection turns out closed: no more can come of it than an answer."""


class Exchange:
    """``async with Exchange(pool) as exchange:`` holds a connection for one request, from `open` on.

    The connection is kept for others if both sides ended as they announced; whoever leaves the block early closes it.
    """

    __slots__ = ("_connection", "_is_kept", "_pool", "_request", "_timer")

    def __init__(self, pool: WirePool) -> None:
        self._pool = pool
        self._connection: Connection | None = None
        self._request: tuple[str, bytes] | None = None
        self._is_kept = False
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._give()

    @property
    def connection(self) -> Connection:
        """The one in use, since `open`."""
        assert self._connection is not None, "open comes first"  # noqa: S101 -- the caller's mistake
        return self._connection

    async def open(self, method: str, head: bytes, body: bytes | None = b"") -> None:
        """Send the request; with None the body follows, by `connection.send`. Raises `NotSent`."""
        self._request = None if body is None else (method, head + body if body else head)
        await self._send(method, head + body if body else head)
        if body is not None:
            self.connection.sent()

    def expect_within(self, timeout_s: float, *, passed_s: float = 0) -> None:
        """The head of the answer must come in time, or whoever waits for it gets `TimedOut`.

        `passed_s` of the time are over already.
        """
        left_s = timeout_s - passed_s
        self._timer = asyncio.get_running_loop().call_later(left_s, self._time_out, timeout_s)

    async def head(self) -> None:
        """Return once the head of the answer is there; raises `Lost`, or what the exchange was failed with."""
        try:
            await self.connection.head()
        except Lost:
            if not self._may_repeat():
                raise
            await self._repeat()
            await self.connection.head()

    def fail(self, reason: Exception) -> None:
        """End it at once; whoever waits for it gets the reason."""
        if self._connection is not None:
            self._connection.fail(reason)

    def _time_out(self, timeout_s: float) -> None:
        if self._connection is not None and not self._connection.has_head:
            self._connection.fail(TimedOut(allowed_s=timeout_s))

    def _may_repeat(self) -> bool:
        """Whether the service closed a kept connection before it could read the request."""
        is_untouched = self._is_kept and not self.connection.has_heard
        return is_untouched and self._request is not None and self._request[0] in REPEATABLE

    async def _repeat(self) -> None:
        assert self._request is not None  # noqa: S101 -- `_may_repeat` says so
        self._give()
        await self._send(*self._request, is_new=True)
        self.connection.sent()

    async def _send(self, method: str, data: bytes, *, is_new: bool = False) -> None:
        kept = None if is_new else self._pool.kept()
        self._is_kept = kept is not None
        self._connection = kept or await self._pool.connected()
        self._connection.begin(data, is_head=method == "HEAD")

    def _give(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.give(connection)
