"""How much one address may ask of the shop, counted in Redis for all replicas together."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError

from app.shop.errors import Unavailable
from app.stores.attempts import network_of
from app.stores.settled_rate import RateConfig, SettledRate


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesConfig:
    """Where the counters are, and what one address (of IPv6 one /64) may.

    Twenty registrations in ten minutes: an office shares an address, and each costs a hash and a row. Thirty
    calls a second through the gateway: a page asks a handful, and an office has many pages.
    """

    url: str
    prefix: str = "chopho:rates"
    registrations: int = 20
    registrations_minutes: int = 10
    gateway: RateConfig = field(default_factory=lambda: RateConfig(limit=300, window_s=10))
    answer_within_s: float = 0.5
    connections: int = 8


class RedisRates:
    """The rates of `app.web.rates`. Built without I/O. Redis sees digests of addresses only.

    Without Redis registration fails closed, as log-in does, since whoever registers is logged in next; the gateway goes on, with
    each replica counting for itself, since its services have caps of their own.
    """

    def __init__(self, config: RatesConfig, *, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._clock = clock
        self.pool = BlockingConnectionPool.from_url(
            config.url,
            max_connections=config.connections,
            timeout=config.answer_within_s,
            socket_timeout=config.answer_within_s,
            socket_connect_timeout=config.answer_within_s,
            retry=Retry(NoBackoff(), 1, supported_errors=(Disconnected,)),  # after a restart of Redis
        )
        self._storage = RedisStorage(
            f"async+{config.url}",
            implementation="redispy",
            key_prefix=config.prefix,
            connection_pool=self.pool,  # type: ignore[arg-type]  # limits documents a pool here, and types scalars
        )
        self._counts = FixedWindowRateLimiter(self._storage)
        self._registrations = RateLimitItemPerMinute(
            config.registrations, config.registrations_minutes, namespace="registration"
        )
        self._gateway = SettledRate(config.gateway, self._storage.incr, clock=clock)

    async def registration_wait_s(self, client: str) -> int:
        """Count one registration: 0 if it may pass, else when the next may; raises `Unavailable`."""
        caller = _digest(client)
        try:
            async with asyncio.timeout(self._config.answer_within_s):
                if await self._counts.hit(self._registrations, caller):
                    return 0
                left = await self._counts.get_window_stats(self._registrations, caller)
        except (RedisError, TimeoutError) as away:
            raise Unavailable("the registration") from away
        return max(1, math.ceil(left.reset_time - self._clock()))

    def gateway_wait_s(self, client: str) -> int:
        """Count one call through the gateway: 0 if it may pass, else when the next may; no I/O."""
        return self._gateway.wait_s(f"gateway/{_digest(client)}")

    async def run(self) -> None:
        """Share the counts of the gateway with the other replicas until cancelled."""
        await self._gateway.run()

    async def close(self) -> None:
        """Close the connections."""
        await self.pool.disconnect()


def _digest(client: str) -> str:
    return hashlib.sha256(network_of(client).encode(errors="replace")).hexdigest()[:32]
