"""Retries that cannot make an outage worse: idempotent calls only, one layer, spread out, and on a budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from . import deadline
from .config import demand, demand_seconds, demand_whole
from .errors import BudgetSpent, Refused
from .events import Listener, Retried, tell

T = TypeVar("T")

_retrying: ContextVar[bool] = ContextVar("retrying", default=False)


def transient(error: Exception) -> bool:
    """Whether another try may help: not when we refused the call ourselves, nor when nobody waits."""
    return not isinstance(error, Refused | BudgetSpent)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryConfig:
    """At most `max_attempts` calls in all, with a pause drawn from 0 to a bound that doubles (full jitter).

    `budget` is the share of the calls under way that may be retries; `at_least` retries may always be
    under way, or a quiet client could never retry.
    """

    max_attempts: int = 2
    first_wait_s: float = 0.05
    longest_wait_s: float = 1.0
    budget: float = 0.2
    at_least: int = 1
    retry_on: Callable[[Exception], bool] = transient

    def __post_init__(self) -> None:
        """Refuse what would retry without end, or never."""
        demand_whole("max_attempts", self.max_attempts, at_least=2)
        demand_seconds("first_wait_s", self.first_wait_s)
        demand_seconds("longest_wait_s", self.longest_wait_s)
        demand("budget", self.budget, "a fraction from 0 to 1", holds=0 <= self.budget <= 1)
        demand_whole("at_least", self.at_least, at_least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySnapshot:
    """A retry at one moment: calls and retries under way, and totals for ever."""

    name: str
    active: int
    retrying: int
    retried: int
    out_of_budget: int


class Retry:
    """``await retry.run(func, *args, idempotent=True)``; goes around a guard, so a pause holds no place.

    Inside another retry it calls once: layers of retries multiply.
    """

    def __init__(
        self,
        name: str,
        config: RetryConfig | None = None,
        *,
        chance: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.name = name
        self.config = RetryConfig() if config is None else config
        self._chance = chance
        self._sleep = sleep
        self._listeners = tuple(listeners)
        self._active = self._retrying = self._retried = self._out_of_budget = 0

    async def run(self, func: Callable[[], Awaitable[T]], *, idempotent: bool) -> T:
        """What the call returns, or the error of its last attempt."""
        if not idempotent or _retrying.get():
            return await func()
        token = _retrying.set(True)
        self._active += 1
        try:
            return await self._first(func)
        finally:
            self._active -= 1
            _retrying.reset(token)

    def snapshot(self) -> RetrySnapshot:
        """Everything there is to see."""
        return RetrySnapshot(
            name=self.name,
            active=self._active,
            retrying=self._retrying,
            retried=self._retried,
            out_of_budget=self._out_of_budget,
        )

    async def _first(self, func: Callable[[], Awaitable[T]]) -> T:
        try:
            return await func()
        except Exception as error:
            wait_s = self._wait_s(1)
            if not self._may_retry(error, wait_s):
                raise
            failed = error
        self._retrying += 1
        try:
            return await self._again(func, failed, wait_s)
        finally:
            self._retrying -= 1

    async def _again(self, func: Callable[[], Awaitable[T]], error: Exception, wait_s: float) -> T:
        """The attempts after the first, holding one retry of the budget."""
        for attempt in range(2, self.config.max_attempts + 1):
            self._retried += 1
            tell(self._listeners, Retried(name=self.name, attempt=attempt, wait_s=wait_s, error=error))
            await self._sleep(wait_s)
            try:
                return await func()
            except Exception as again:
                error, wait_s = again, self._wait_s(attempt)
                if not self._worth(again, wait_s):
                    raise
        raise error

    def _may_retry(self, error: Exception, wait_s: float) -> bool:
        if not self._worth(error, wait_s):
            return False
        allowed = max(int(self._active * self.config.budget), self.config.at_least)
        if self._retrying < allowed:
            return True
        self._out_of_budget += 1
        return False

    def _worth(self, error: Exception, wait_s: float) -> bool:
        left = deadline.left_s()
        return self.config.retry_on(error) and (left is None or wait_s < left)

    def _wait_s(self, attempt: int) -> float:
        bound: float = min(self.config.first_wait_s * 2 ** (attempt - 1), self.config.longest_wait_s)
        return bound * self._chance()
