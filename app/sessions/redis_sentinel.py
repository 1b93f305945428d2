"""The master of a Sentinel group, looked up anew whenever a connection is made."""

from __future__ import annotations

from contextlib import suppress

from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from .errors import StoreUnavailable
from .redis_server import Address, Server
from .redis_urls import SentinelUrl


class SentinelServer(Server):
    """One server, which is whichever the sentinels call the master.

    A demoted master is left as soon as it refuses a write or closes the connection, which Sentinel makes
    it do; until the new one stands, callers get `StoreUnavailable`.
    """

    def __init__(self, url: SentinelUrl, timeout_s: float) -> None:
        super().__init__(url.options, timeout_s, find=self._find_master, role=b"master")
        self._master = url.master
        self._sentinel = Sentinel(  # type: ignore[no-untyped-call]  # redis-py leaves it so
            url.sentinels,
            sentinel_kwargs=url.sentinel_login,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
        )

    async def close(self) -> None:
        """Hang up on the master and the sentinels."""
        await super().close()
        for sentinel in self._sentinel.sentinels:
            await sentinel.aclose()

    async def _find_master(self) -> Address:
        try:
            host, port = await self._sentinel.discover_master(self._master)
        except RedisError as unknown:
            with suppress(RedisError):
                # Connections broken on the way must not be met again by the next look-up.
                for sentinel in self._sentinel.sentinels:
                    await sentinel.connection_pool.disconnect()
            raise StoreUnavailable(f"no master: {unknown}") from unknown
        return str(host), int(port)
