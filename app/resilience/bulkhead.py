"""The bulkhead: a dependency may hold so many callers and not one more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from .config import demand, demand_seconds, demand_whole
from .errors import Full
from .events import CallFinished, CallPermitted, CallRejected, Listener, tell


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkheadConfig:
    """Places, and a waiting room that is closed unless both its size and its time are given.

    A waiting room turns a short burst into a short wait. It is bounded twice, because an unbounded queue
    turns overload into a slow success that no error rate shows.
    """

    max_concurrent_calls: int = 25
    max_waiting: int = 0
    max_wait_duration_s: float = 0.0
    retry_after_s: float = 1.0

    def __post_init__(self) -> None:
        """Refuse half a waiting room."""
        demand_whole("max_concurrent_calls", self.max_concurrent_calls, at_least=1)
        demand_whole("max_waiting", self.max_waiting, at_least=0)
        demand_seconds("retry_after_s", self.retry_after_s)
        wait_s = self.max_wait_duration_s
        if self.max_waiting:
            demand_seconds("max_wait_duration_s", wait_s)
        else:
            demand("max_wait_duration_s", wait_s, "0 without max_waiting", holds=wait_s == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkheadSnapshot:
    """A bulkhead at one moment; `rejected` is a total for ever."""

    name: str
    max_concurrent_calls: int
    in_use: int
    waiting: int
    rejected: int

    @property
    def available(self) -> int:
        """Places nobody holds."""
        return self.max_concurrent_calls - self.in_use


class Bulkhead:
    """``async with bulkhead.take():`` holds a place for the block, or raises `Full`.

    Cancellation gives every place back, also one that was handed to a waiter who left in the same moment.
    Waiters come first in the order they came.
    """

    def __init__(
        self, name: str, config: BulkheadConfig | None = None, *, listeners: Sequence[Listener] = ()
    ) -> None:
        self.name = name
        self.config = BulkheadConfig() if config is None else config
        self._listeners = tuple(listeners)
        # Frozen, and told with every call: one of each is enough.
        self._permitted, self._finished = CallPermitted(name=name), CallFinished(name=name)
        self._in_use = 0
        self._rejected = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def __repr__(self) -> str:
        return f"<Bulkhead {self.name} {self._in_use}/{self.config.max_concurrent_calls}>"

    def take(self) -> Place:
        """One place, as an async context manager."""
        return Place(self)

    async def enter(self) -> None:
        """Hold a place, to be left exactly once; `take` does both. Raises `Full`."""
        if self._in_use < self.config.max_concurrent_calls:
            self._in_use += 1
        elif len(self._waiting) < self.config.max_waiting:
            await self._wait()
        else:
            raise self._refusal()
        if self._listeners:
            tell(self._listeners, self._permitted)

    def leave(self) -> None:
        """Give the place to the first who waits, or back."""
        self._pass_on()
        if self._listeners:
            tell(self._listeners, self._finished)

    def snapshot(self) -> BulkheadSnapshot:
        """Everything there is to see."""
        return BulkheadSnapshot(
            name=self.name,
            max_concurrent_calls=self.config.max_concurrent_calls,
            in_use=self._in_use,
            waiting=len(self._waiting),
            rejected=self._rejected,
        )

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self.config.max_wait_duration_s):
                await turn
        except BaseException as left:
            self._walk_away(turn)
            if isinstance(left, TimeoutError):
                raise self._refusal() from None
            raise

    def _walk_away(self, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._pass_on()  # the place was ours already when we were told to go
        elif turn in self._waiting:
            self._waiting.remove(turn)

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._in_use -= 1

    def _refusal(self) -> Full:
        self._rejected += 1
        tell(self._listeners, CallRejected(name=self.name))
        return Full(self.name, retry_after_s=self.config.retry_after_s)


class Place:
    """One place in a bulkhead, held by the block."""

    __slots__ = ("_bulkhead",)

    def __init__(self, bulkhead: Bulkhead) -> None:
        self._bulkhead = bulkhead

    async def __aenter__(self) -> None:
        await self._bulkhead.enter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bulkhead.leave()
