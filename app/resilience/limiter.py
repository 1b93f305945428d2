"""Thread limiters: blocking work of one kind may hold so many threads, and starve nobody else."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, WouldBlock, to_thread

from .config import demand_seconds, demand_whole
from .errors import Full
from .events import CallFinished, CallPermitted, CallRejected, Listener, tell

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimiterConfig:
    """Threads, and how many calls may wait for one."""

    max_threads: int = 4
    queue_capacity: int = 100
    retry_after_s: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a limiter that never works."""
        demand_whole("max_threads", self.max_threads, at_least=1)
        demand_whole("queue_capacity", self.queue_capacity, at_least=0)
        demand_seconds("retry_after_s", self.retry_after_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimiterSnapshot:
    """A limiter at one moment; `rejected` is a total for ever."""

    name: str
    max_threads: int
    busy: int
    queue_depth: int
    queue_capacity: int
    rejected: int


class Limiter:
    """``await limiter.run(func, *args)`` runs blocking work in a thread of this kind of work.

    A caller who leaves the queue leaves nothing behind. A caller who leaves while the thread works is let
    go at once, but the thread cannot be stopped: its place is given back when the work ends, so there are
    never more threads than places.
    """

    def __init__(
        self, name: str, config: LimiterConfig | None = None, *, listeners: Sequence[Listener] = ()
    ) -> None:
        self.name = name
        self.config = LimiterConfig() if config is None else config
        self._listeners = tuple(listeners)
        self._threads = CapacityLimiter(self.config.max_threads)
        self._unlimited = CapacityLimiter(math.inf)
        self._queued = 0
        self._rejected = 0
        self._works: set[asyncio.Future[Any]] = set()

    async def run(self, func: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns or raises; raises `Full` at once when the queue is full."""
        borrower = object()
        await self._enter(borrower)
        work = asyncio.ensure_future(self._work(borrower, partial(func, *args, **kwargs)))
        self._works.add(work)
        work.add_done_callback(self._ended)
        return await asyncio.shield(work)

    def snapshot(self) -> LimiterSnapshot:
        """Everything there is to see."""
        return LimiterSnapshot(
            name=self.name,
            max_threads=self.config.max_threads,
            busy=self._threads.borrowed_tokens,
            queue_depth=self._queued,
            queue_capacity=self.config.queue_capacity,
            rejected=self._rejected,
        )

    def _ended(self, work: asyncio.Future[Any]) -> None:
        self._works.discard(work)
        if not work.cancelled():
            work.exception()  # looked at, so the loop does not report what a caller who left did not see

    async def _enter(self, borrower: object) -> None:
        try:
            self._threads.acquire_on_behalf_of_nowait(borrower)
        except WouldBlock:
            await self._queue(borrower)
        tell(self._listeners, CallPermitted(name=self.name))

    async def _queue(self, borrower: object) -> None:
        if self._queued >= self.config.queue_capacity:
            self._rejected += 1
            tell(self._listeners, CallRejected(name=self.name))
            raise Full(self.name, retry_after_s=self.config.retry_after_s)
        self._queued += 1
        try:
            await self._threads.acquire_on_behalf_of(borrower)
        finally:
            self._queued -= 1

    async def _work(self, borrower: object, func: Callable[[], T]) -> T:
        """Owns the place: nobody cancels it, so the place comes back when the thread has ended."""
        try:
            return await to_thread.run_sync(func, limiter=self._unlimited)
        finally:
            self._threads.release_on_behalf_of(borrower)
            tell(self._listeners, CallFinished(name=self.name))
