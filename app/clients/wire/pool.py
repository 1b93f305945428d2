"""The connections to one service that are kept for the next request."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final
from urllib.parse import urlsplit

from app.clients.http import KEEP_ALIVE_S, NotSent
from app.clients.pool import Places
from app.clients.wire.connection import Connection

_PORTS: Final = {"http": 80, "https": 443}


class WirePool:
    """Connections to `url`, kept for `keep_alive_s` after their last exchange; 0 keeps none.

    It bounds nothing itself: callers hold a slot each, of which there are no more than `size`. Built without I/O.
    """

    def __init__(self, url: str, *, size: int, keep_alive_s: float = KEEP_ALIVE_S) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._keep_alive_s = keep_alive_s
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self.authority = parts.netloc.rpartition("@")[2].encode()
        self.places = Places(size)

    async def take(self, *, is_new: bool = False) -> tuple[Connection, bool]:
        """A connection, and whether it was kept; to be given back exactly once. Raises `NotSent`."""
        kept = None if is_new else self._kept()
        connection = kept or await self._connected()
        self._open.add(connection)
        self.places.take()
        return connection, kept is not None

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

    def _kept(self) -> Connection | None:
        """The one used last, so that what is not needed grows old and goes."""
        too_old = asyncio.get_running_loop().time() - self._keep_alive_s
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_since > too_old:
                self._drop_old(too_old)
                return connection
            connection.close()
        return None

    def _drop_old(self, too_old: float) -> None:
        while self._idle and self._idle[0].idle_since <= too_old:
            self._idle.pop(0).close()

    async def _connected(self) -> Connection:
        self.places.ask()
        try:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(Connection, self._host, self._port, ssl=self._tls)
        except OSError as refused:
            raise NotSent(f"{type(refused).__name__}: {refused}") from refused
        finally:
            self.places.leave()
        return connection
