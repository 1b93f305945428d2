"""A rate for each caller that all replicas share and that costs a request no call: counted here, settled behind."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from redis.exceptions import RedisError

Add = Callable[[str, int, int], Awaitable[int]]
"""Adds so many to the counter of that key, which expires after so many seconds; its total then."""

_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RateConfig:
    """So many requests in each window of `window_s` seconds.

    A caller is told to the others once `told_share` of the limit was counted here, so quiet callers cost nothing.
    Over n replicas a caller gets at most (1 + n × told_share) of the limit, and what comes within `settle_every_s`.
    """

    limit: int
    window_s: int
    told_share: float = 0.05
    settle_every_s: float = 0.2
    settle_within_s: float = 2.0


@dataclass(slots=True)
class _Count:
    window: int
    known: int = 0  # by all replicas, as of the last settling
    untold: int = 0  # by this one since then


class SettledRate:
    """One rate; belongs to one event loop.

    While Redis is away each replica goes on counting for itself: the limit then holds for every replica alone, and
    nobody is refused for want of a counter.
    """

    def __init__(self, config: RateConfig, add: Add, *, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._add = add
        self._clock = clock
        self._told_at = max(1, int(config.limit * config.told_share))
        self._counts: dict[str, _Count] = {}

    def __len__(self) -> int:
        """How many callers are being counted."""
        return len(self._counts)

    def wait_s(self, caller: str) -> int:
        """Count one request: 0 if it may pass, else the seconds until the next may."""
        now = self._clock()
        window = int(now // self._config.window_s)
        count = self._counts.get(caller)
        if count is None or count.window != window:
            count = self._counts[caller] = _Count(window)
        if count.known + count.untold >= self._config.limit:
            return max(1, math.ceil((window + 1) * self._config.window_s - now))
        count.untold += 1
        return 0

    async def run(self) -> None:
        """Settle until cancelled."""
        while True:
            await asyncio.sleep(self._config.settle_every_s)
            await self.settle()

    async def settle(self) -> None:
        """Tell what was counted here and learn what the others counted; what cannot be told stays for later."""
        window = int(self._clock() // self._config.window_s)
        self._counts = {caller: count for caller, count in self._counts.items() if count.window == window}
        loud = [(caller, count) for caller, count in self._counts.items() if count.untold >= self._told_at]
        try:
            async with asyncio.timeout(self._config.settle_within_s):
                for first in range(0, len(loud), _AT_ONCE):
                    batch = loud[first : first + _AT_ONCE]
                    await asyncio.gather(*(self._tell(caller, count) for caller, count in batch))
        except (RedisError, TimeoutError):
            return

    async def _tell(self, caller: str, count: _Count) -> None:
        telling, expiry_s = count.untold, 2 * self._config.window_s
        total = await self._add(f"{caller}/{count.window}", expiry_s, telling)
        count.known, count.untold = total, count.untold - telling
