"""A pool of connections that shows how full it is, which aiohttp's own keeps to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace


class Places:
    """The places of a pool: who holds a connection, and who has asked for one."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._asking = 0
        self._held = 0
        self._watchers: list[tuple[Callable[[], None], Callable[[], None]]] = []

    @property
    def in_use(self) -> int:
        """Connections that are held or being made."""
        return min(self._held + self._asking, self.size)

    @property
    def waiting(self) -> int:
        """Callers for whom there is none."""
        return self._held + self._asking - self.in_use

    def watch(self, *, taken: Callable[[], None], given: Callable[[], None]) -> None:
        """Call one of these each time that a connection is taken or given back."""
        self._watchers.append((taken, given))

    def ask(self) -> None:
        """Somebody wants a connection."""
        self._asking += 1

    def leave(self) -> None:
        """Whoever asked has got one, or wants it no more."""
        self._asking -= 1

    def take(self) -> None:
        """A connection is held."""
        self._held += 1
        for taken, _ in self._watchers:
            taken()

    def give(self) -> None:
        """It is given back, or broken."""
        self._held -= 1
        for _, given in self._watchers:
            given()


class CountingConnector(aiohttp.TCPConnector):
    """Keeps the books of its places, whatever way a connection is lost."""

    def __init__(self, places: Places, *, keepalive_timeout: float) -> None:
        super().__init__(limit=places.size, keepalive_timeout=keepalive_timeout)
        self._places = places

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 -- as the class above declares it
    ) -> Connection:
        """A connection, from the pool or new."""
        self._places.ask()
        try:
            connection = await super().connect(req, traces, timeout)
        finally:
            self._places.leave()
        self._places.take()
        connection.add_callback(self._places.give)
        return connection
