"""Failed log-ins, counted in Redis for all replicas together."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError

from app.shop.errors import TooManyAttempts, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsConfig:
    """Where failures are counted, and how many a minute pass before the caller is slowed.

    Ten by one address on one account: forgotten passwords take fewer. Thirty by one address over all
    accounts: an office shares an address.
    """

    url: str
    prefix: str = "chopho:attempts"
    account_burst: int = 10
    client_burst: int = 30
    slowed_to_s: int = 2
    answer_within_s: float = 0.5
    connections: int = 8


class RedisAttempts:
    """The attempts' port. Built without I/O.

    Past a burst nobody is locked out: one attempt every `slowed_to_s` passes, the others are told to
    wait. Failures are counted after the fact, so that a success never counts; what is under way when a
    burst ends still passes, no more than the password compartments hold. Redis sees digests of e-mails
    and addresses only.
    """

    def __init__(self, config: AttemptsConfig) -> None:
        self._config = config
        self._pool = BlockingConnectionPool.from_url(
            config.url,
            max_connections=config.connections,
            timeout=config.answer_within_s,
            socket_timeout=config.answer_within_s,
            socket_connect_timeout=config.answer_within_s,
            retry=Retry(NoBackoff(), 1, supported_errors=(Disconnected,)),  # after a restart of Redis
        )
        storage = RedisStorage(
            f"async+{config.url}",
            implementation="redispy",
            key_prefix=config.prefix,
            connection_pool=self._pool,  # type: ignore[arg-type]  # limits documents a pool here, and types scalars
        )
        self._counts = FixedWindowRateLimiter(storage)
        self._of_account = RateLimitItemPerMinute(config.account_burst, namespace="account")
        self._of_client = RateLimitItemPerMinute(config.client_burst, namespace="client")
        self._lane = RateLimitItemPerSecond(1, config.slowed_to_s, namespace="lane")

    @property
    def pool(self) -> BlockingConnectionPool:
        """For whoever watches it."""
        return self._pool

    async def check(self, email_key: str, client: str) -> None:
        """Raises `TooManyAttempts` when the burst is used up and another attempt passed just now."""
        async with self._answering():
            for limit, who in self._limits(email_key, client):
                if not await self._counts.test(limit, who) and not await self._counts.hit(self._lane, who):
                    raise TooManyAttempts(retry_after_s=self._config.slowed_to_s)

    async def failed(self, email_key: str, client: str) -> None:
        """Count one failure for both."""
        async with self._answering():
            for limit, who in self._limits(email_key, client):
                await self._counts.hit(limit, who)

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.disconnect()

    def _limits(self, email_key: str, client: str) -> tuple[tuple[RateLimitItem, str], ...]:
        network = network_of(client)
        return (
            (self._of_account, digest_of(f"{email_key}\n{network}")),
            (self._of_client, digest_of(network)),
        )

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._config.answer_within_s):
                yield
        except (RedisError, TimeoutError) as away:
            raise Unavailable("the log-in") from away


def network_of(client: str) -> str:
    """Whom an address stands for: an IPv4 address itself, of IPv6 the /64 that one customer gets."""
    try:
        address: IPv4Address | IPv6Address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((int(address), 64), strict=False))
    return str(address)


def digest_of(text: str) -> str:
    """What Redis sees of an e-mail or an address."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]
