"""How often mail is asked for, counted in Redis for all replicas together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.exceptions import RedisError

from app.shop.errors import TooManyAttempts, Unavailable
from app.stores.attempts import digest_of, network_of

_WAIT_S: Final = 60
"""What a client that asked too often is told to wait; a window is longer, and moves on meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsksConfig:
    """How many pass.

    Three to one address in half an hour, as long as a link is good: nobody's mailbox is filled, and whoever
    wants in has a link already. Twenty by one client in ten minutes, None for any number.
    """

    url: str
    prefix: str = "chopho:asks"
    email_most: int = 3
    email_minutes: int = 30
    client_most: int | None = 20
    client_minutes: int = 10
    answer_within_s: float = 0.5


class RedisAsks:
    """The asks' port, on the connections of the failed log-ins. Built without I/O."""

    def __init__(self, config: AsksConfig, pool: BlockingConnectionPool) -> None:
        self._config = config
        storage = RedisStorage(
            f"async+{config.url}",
            implementation="redispy",
            key_prefix=config.prefix,
            connection_pool=pool,  # type: ignore[arg-type]  # limits documents a pool here, and types scalars
        )
        self._counts = FixedWindowRateLimiter(storage)
        self._of_email = RateLimitItemPerMinute(config.email_most, config.email_minutes, namespace="email")
        self._of_client = RateLimitItemPerMinute(
            config.client_most or 1, config.client_minutes, namespace="client"
        )

    async def allow(self, email_key: str, client: str) -> bool:
        """One count for each; Redis sees digests only."""
        try:
            async with asyncio.timeout(self._config.answer_within_s):
                if self._config.client_most is not None and not await self._counts.hit(
                    self._of_client, digest_of(network_of(client))
                ):
                    raise TooManyAttempts(retry_after_s=_WAIT_S)
                return await self._counts.hit(self._of_email, digest_of(email_key))
        except (RedisError, TimeoutError) as away:
            raise Unavailable("the mail desk") from away
