"""A way to the servers on which a change is done only once replicas have it."""

from __future__ import annotations

from typing import Final

from .config import SessionConfig
from .errors import StoreUnavailable
from .redis_link import Reply
from .redis_replies import checked
from .redis_server import Wire, pack

_SHARE: Final = 0.8
"""Of the timeout for the replicas; what is left of it brings the answer home."""


class Acknowledged:
    """A connection of its own: WAIT counts what went over it, and holds up whatever comes after."""

    def __init__(self, wire: Wire, config: SessionConfig) -> None:
        self._wire = wire
        self._replicas = config.revoke_replicas
        self._patience_ms = max(1, int(_SHARE * 1000 * config.timeout.total_seconds()))

    @property
    def dialled(self) -> int:
        """Connections made so far."""
        return self._wire.dialled

    @property
    def redirected(self) -> int:
        """Commands sent on so far."""
        return self._wire.redirected

    async def call(self, *commands: tuple[bytes, bytes]) -> list[Reply]:
        """The replies, once enough replicas have what the first command did; else `StoreUnavailable`."""
        key = commands[0][0]
        wait = key, pack("WAIT", self._replicas, self._patience_ms)
        followed = self._wire.redirected
        first, reached, *others = await self._wire.call(commands[0], wait, *commands[1:])
        checked([reached])
        if reached < self._replicas:
            raise StoreUnavailable(f"{reached} of {self._replicas} replicas have it")
        if self._wire.redirected != followed:
            # The change went to another node than the one whose replicas were counted.
            raise StoreUnavailable("the key has moved; whether replicas have it is unknown")
        return [first, *others]

    async def count(self, pattern: str) -> int:
        """How many keys match."""
        return await self._wire.count(pattern)

    async def open(self) -> None:
        """Begin to connect."""
        await self._wire.open()

    async def close(self) -> None:
        """Hang up."""
        await self._wire.close()
