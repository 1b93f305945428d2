"""The connections to one service that are kept for the next request."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final
from urllib.parse import urlsplit

from app.clients.http import KEEP_ALIVE_S, NotSent
from app.clients.pool import Places
from app.clients.wire.connection import Connection
from app.resilience import TimedOut

_PORTS: Final = {"http": 80, "https": 443}


class WirePool:
    """Connections to `url`, kept for `keep_alive_s` after their last exchange; 0 keeps none.

    It bounds nothing itself: callers hold a slot each, of which there are no more than `size`. Built without I/O.
    Each connection that `kept` or `connected` hands out is to be given back exactly once.
    """

    def __init__(
        self, url: str, *, size: int, keep_alive_s: float = KEEP_ALIVE_S, connect_within_s: float = 1.0
    ) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._keep_alive_s = keep_alive_s
        self._connect_within_s = connect_within_s
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self.authority = parts.netloc.rpartition("@")[2].encode()
        self.places = Places(size)

    def kept(self) -> Connection | None:
        """The one used last, so that what is not needed grows old and goes; None if there is none."""
        if not self._idle:
            return None
        too_old = asyncio.get_running_loop().time() - self._keep_alive_s
        while self._idle[0].idle_since <= too_old or not self._idle[0].is_open:
            self._idle.pop(0).close()
            if not self._idle:
                return None
        connection = self._idle.pop()
        return self._taken(connection) if connection.is_open else self.kept()

    async def connected(self) -> Connection:
        """A new one; raises `NotSent`, `TimedOut`."""
        self.places.ask()
        try:
            return self._taken(await self._connect())
        finally:
            self.places.leave()

    def give(self, connection: Connection) -> None:
        """Keep it if its exchange is over, else close it."""
        self._open.discard(connection)
        self.places.give()
        if connection.is_reusable and self._keep_alive_s:
            connection.rest()
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close every connection."""
        for connection in [*self._idle, *self._open]:
            connection.close()
        self._idle.clear()

    def _taken(self, connection: Connection) -> Connection:
        self._open.add(connection)
        self.places.take()
        return connection

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_within_s):
                _, connection = await loop.create_connection(
                    Connection, self._host, self._port, ssl=self._tls
                )
        except TimeoutError as silent:
            raise TimedOut(allowed_s=self._connect_within_s) from silent
        except OSError as refused:
            raise NotSent(f"{type(refused).__name__}: {refused}") from refused
        return connection
