"""The last answers of helpful services, in the cache's Redis, for when they cannot answer.

The cache is a helpful dependency itself, with slots, deadline and breakers of its own: whatever keeps it from
answering is a miss, and no page waits for it while everything is well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError

from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    DeadlineExceeded,
    Guard,
    Listener,
    Refused,
)
from app.shop.degradation import Copy

T = TypeVar("T")

NAME: Final = "cache"

_BREAKER: Final = BreakerConfig(
    minimum_number_of_calls=5,
    sliding_window_type="time",
    sliding_window_size=10,
    slow_call_duration_threshold_s=10,  # the deadline is shorter than anything worth calling slow
    wait_duration_in_open_state_s=2,
    longest_wait_in_open_state_s=8,
    permitted_number_of_calls_in_half_open_state=3,
    max_wait_duration_in_half_open_state_s=5,
)

_KEYS_MOST: Final = 10_000
"""Keys whose last keeping a process remembers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """Where copies are kept, and how long one question may take.

    A key is kept anew at most once in `keep_every`: a copy may be as much older than it could be, and a busy
    page writes nothing most of the time.
    """

    url: str
    namespace: str = "chopho:copies"
    timeout: timedelta = timedelta(milliseconds=150)
    connections: int = 8
    keep_every: timedelta = timedelta(seconds=5)


class Cache:
    """Bytes under names, as far as Redis answers in time. Built without I/O; nothing here raises."""

    def __init__(self, config: CacheConfig, *, listeners: Sequence[Listener] = ()) -> None:
        self.config = config
        timeout_s = config.timeout.total_seconds()
        self.pool = BlockingConnectionPool.from_url(
            config.url,
            max_connections=config.connections,
            timeout=timeout_s,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 1, supported_errors=(Disconnected,)),  # after a restart of Redis
        )
        self._redis = Redis(connection_pool=self.pool)
        self.slots = Bulkhead(
            NAME, BulkheadConfig(max_concurrent_calls=config.connections), listeners=listeners
        )
        self.reading, self.writing = self.guards = [
            Guard(
                slots=self.slots,
                breaker=Breaker(f"{NAME}.{what}", _BREAKER, listeners=listeners),
                timeout_s=timeout_s,
                pool_size=config.connections,
            )
            for what in ("read", "write")
        ]
        self._writes: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Let what is being written end, which takes no longer than one deadline, and close."""
        if self._writes:
            await asyncio.wait(self._writes)
        await self.pool.disconnect()

    async def look(self) -> None:
        """Return if it answers; raises what Redis raises."""
        await self._redis.ping()

    async def get(self, name: str) -> bytes | None:
        """What is kept under the name; None where nothing is, or nobody answers."""
        found: bytes | None = await _miss(self.reading, lambda: self._redis.get(self._key(name)))
        return found

    async def drop(self, name: str) -> None:
        """Keep nothing under the name."""
        await _miss(self.writing, lambda: self._redis.delete(self._key(name)))

    def put_soon(self, name: str, value: bytes, *, limit: timedelta) -> None:
        """Keep it that long; nobody waits for it, and where there is no slot it is left."""
        writing = asyncio.ensure_future(self._put(name, value, limit))
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)

    async def _put(self, name: str, value: bytes, limit: timedelta) -> None:
        await _miss(self.writing, lambda: self._redis.set(self._key(name), value, px=limit))

    def _key(self, name: str) -> str:
        return f"{self.config.namespace}:{name}"


async def _miss(guard: Guard, ask: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- what Redis answers
    try:
        async with guard.call():
            return await ask()
    except (Refused, DeadlineExceeded, RedisError, OSError):
        return None


class CachedCopies(Generic[T]):
    """The copies of one dependency's answers: `app.shop.degradation.Copies` in that cache.

    They carry the time they were made, so that none is shown past its limit, whatever Redis keeps. What
    cannot be read, because another version wrote it, is not there.
    """

    def __init__(
        self,
        cache: Cache,
        dependency: str,
        answers: TypeAdapter[T],
        *,
        limit: timedelta,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._cache = cache
        self._dependency = dependency
        self._answers = answers
        self._limit = limit
        self._clock = clock
        self._kept_at: dict[str, float] = {}

    async def get(self, key: str) -> Copy[T] | None:
        """See the port."""
        kept = await self._cache.get(self._name(key))
        if kept is None:
            return None
        made_at, _, value = kept.partition(b"\n")
        try:
            age_s = max(self._clock() - float(made_at), 0)
            copy = Copy(value=self._answers.validate_json(value), age_s=age_s)
        except (ValueError, ValidationError):
            return None
        return copy if age_s <= self._limit.total_seconds() else None

    def keep(self, key: str, value: T) -> None:
        """See the port."""
        now = self._clock()
        kept_at = self._kept_at.get(key)
        if kept_at is not None and now - kept_at < self._cache.config.keep_every.total_seconds():
            return
        self._remember(key, now)
        kept = b"%.3f\n%b" % (now, self._answers.dump_json(value))
        self._cache.put_soon(self._name(key), kept, limit=self._limit)

    async def drop(self, key: str) -> None:
        """See the port."""
        self._kept_at.pop(key, None)
        await self._cache.drop(self._name(key))

    def _remember(self, key: str, now: float) -> None:
        self._kept_at.pop(key, None)
        while len(self._kept_at) >= _KEYS_MOST:
            del self._kept_at[next(iter(self._kept_at))]
        self._kept_at[key] = now

    def _name(self, key: str) -> str:
        return f"{self._dependency}:{key}"
