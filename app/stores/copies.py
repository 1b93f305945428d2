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

_DROPPED: Final = b"-"
_DROPPED_FOR: Final = timedelta(seconds=5)
"""Longer than an answer is under way that was asked for before the drop, here or at another replica."""

_KEEP: Final = """
if redis.call("GET", KEYS[1]) == ARGV[3] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1
"""

_CLOCKS_DIFFER_S: Final = 5.0
"""The clocks of replicas may differ by so much; a copy from further ahead has no age that anybody knows."""

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
        self._keep = self._redis.register_script(_KEEP)

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
        return None if found == _DROPPED else found

    async def drop(self, name: str) -> None:
        """Keep nothing under the name, not even what is under way to it now."""
        await _miss(self.writing, lambda: self._redis.set(self._key(name), _DROPPED, px=_DROPPED_FOR))

    def put_soon(self, name: str, value: bytes, *, limit: timedelta) -> None:
        """Keep it that long; nobody waits for it, and where there is no slot it is left."""
        writing = asyncio.ensure_future(self._put(name, value, limit))
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)

    async def _put(self, name: str, value: bytes, limit: timedelta) -> None:
        limit_ms = int(limit.total_seconds() * 1000)
        await _miss(self.writing, lambda: self._keep([self._key(name)], [value, limit_ms, _DROPPED]))

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
    cannot be read, because another version wrote it, is not there, nor is what claims to be made later than now:
    a clock was set back, and nobody knows how old it is.
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
            age_s = self._clock() - float(made_at)
            copy = Copy(value=self._answers.validate_json(value), age_s=max(age_s, 0))
        except (ValueError, ValidationError):
            return None
        return copy if -_CLOCKS_DIFFER_S <= age_s <= self._limit.total_seconds() else None

    def keep(self, key: str, value: T) -> None:
        """See the port."""
        now = self._clock()
        kept_at = self._kept_at.get(key)
        if kept_at is not None and 0 <= now - kept_at < self._cache.config.keep_every.total_seconds():
            return  # a clock that was set back does not keep new copies out until it has caught up
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
