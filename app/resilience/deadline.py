"""Deadlines: how much time the caller has left, here and in the services it calls.

A budget is opened once, where a request enters (`budget`), and every call below spends from it (`spend`).
It travels in a context variable, and to the downstream as the milliseconds that are left (`headers`):
what is left needs no agreement about clocks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from .errors import BudgetSpent, DeadlineExceeded, TimedOut

HEADER: Final = "X-Request-Deadline-Ms"
"""Carries the remaining milliseconds as a decimal number."""

_DIGITS: Final = 8
"""More than a day of milliseconds is a mistake, not a deadline."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a monotonic clock."""

    at: float
    clock: Callable[[], float] = time.monotonic

    def left_s(self) -> float:
        """What is left, below 0 once it is over."""
        return self.at - self.clock()


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def left_s() -> float | None:
    """What the caller has left, or None: nobody waits."""
    current = _current.get()
    return None if current is None else current.left_s()


@contextmanager
def budget(seconds: float, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Deadline]:
    """The block has that long, or what the enclosing budget has left, if that is less."""
    deadline = _narrowed(Deadline(clock() + seconds, clock))
    token = _current.set(deadline)
    try:
        yield deadline
    finally:
        _current.reset(token)


def headers() -> Mapping[str, str]:
    """What to send along with a call; nothing if nobody waits."""
    left = left_s()
    return {} if left is None else {HEADER: str(max(int(left * 1000), 0))}


def parse(value: str | None) -> float | None:
    """The seconds that such a header grants; None for what is absent or not a number of milliseconds."""
    if value is None or not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
        return None
    return int(value) / 1000


def spend(timeout_s: float) -> Spend:
    """The block may take that long, within the budget; raises `TimedOut` or `BudgetSpent`."""
    return Spend(timeout_s)


class Spend:
    """A cut-off around one call; the call sees its own end as the budget."""

    __slots__ = ("_allowed_s", "_timeout_s", "_timer", "_token")
    _timer: asyncio.Timeout
    _token: Token[Deadline | None]

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._allowed_s = timeout_s

    async def __aenter__(self) -> None:
        left = left_s()
        if left is not None:
            self._allowed_s = min(left, self._timeout_s)
        if self._allowed_s <= 0:
            raise BudgetSpent(allowed_s=0.0)
        self._timer = asyncio.timeout(self._allowed_s)
        await self._timer.__aenter__()
        self._token = _current.set(Deadline(time.monotonic() + self._allowed_s))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._token)
        try:
            await self._timer.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self._verdict() from error
        if isinstance(error, Exception) and self._timer.expired():
            raise self._verdict() from error  # a client that dressed our cut-off as an error of its own

    def _verdict(self) -> DeadlineExceeded:
        whole = self._allowed_s >= self._timeout_s
        return (TimedOut if whole else BudgetSpent)(allowed_s=self._allowed_s)


def _narrowed(deadline: Deadline) -> Deadline:
    enclosing = _current.get()
    return enclosing if enclosing is not None and enclosing.left_s() < deadline.left_s() else deadline
