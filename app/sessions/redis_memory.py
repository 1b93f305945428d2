"""Notices that a server may have lost what ended sessions: it was restarted, replaced or emptied."""

from __future__ import annotations

from .config import SessionConfig
from .redis_replies import checked
from .redis_server import Wire, pack


class Memory:
    """A mark in the server, which goes with everything else, and the connections, which end with a server."""

    def __init__(self, wire: Wire, key: bytes, config: SessionConfig) -> None:
        self._wire = wire
        self._key = key
        self._kept_ms = config.kept_ms
        self._seen = self._trusted = 0

    async def holds(self) -> bool:
        """Whether this is the server that was marked, by connections that never broke since."""
        (mark,) = checked(await self._wire.call((self._key, pack("GET", self._key))))
        self._seen = self._wire.dialled
        return mark is not None and self._seen == self._trusted

    async def renew(self) -> None:
        """Mark it; a connection that broke since `holds` was asked still counts as broken."""
        checked(await self._wire.call((self._key, pack("SET", self._key, "1", "PX", self._kept_ms))))
        self._trusted = self._seen
