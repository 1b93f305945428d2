"""The guard: slot, then breaker, then deadline, then the pool, in that one order.

The slot comes first, so that our own overload is refused before the breaker could book it as their failure.
The deadline is inside the breaker, so that a hanging dependency counts. The pool is whatever the block
uses; it is never smaller than the slots, so nobody who holds a slot waits for a connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from . import deadline
from .breaker import Breaker, Call
from .bulkhead import Bulkhead
from .config import demand, demand_seconds

P = ParamSpec("P")
T = TypeVar("T")


class Guard:
    """Guards the calls to one endpoint of one dependency.

    Endpoints of a dependency share its `slots` and pool, and have a breaker each: a slow one must not keep
    calls from a healthy one. `pool_size` is the number of connections behind the slots.
    """

    def __init__(self, *, slots: Bulkhead, breaker: Breaker, timeout_s: float, pool_size: int) -> None:
        demand_seconds("timeout_s", timeout_s)
        most = slots.config.max_concurrent_calls
        wants = f"at most pool_size={pool_size}, or callers would queue for connections"
        demand("max_concurrent_calls", most, wants, holds=most <= pool_size)
        self.slots = slots
        self.breaker = breaker
        self.timeout_s = timeout_s
        self.pool_size = pool_size

    def __repr__(self) -> str:
        return f"<Guard {self.slots!r} {self.breaker!r} {self.timeout_s} s>"

    @asynccontextmanager
    async def call(self) -> AsyncIterator[Call]:
        """One guarded call; raises `Full`, `NotPermitted`, `BudgetSpent`, `TimedOut`, or what the block raises."""
        async with self.slots.take(), self.breaker.call() as call, deadline.spend(self.timeout_s):
            yield call

    async def run(self, func: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Await the guarded call; what it returns is a failure if `record_result` says so."""
        async with self.call() as call:
            return call.returned(await func(*args, **kwargs))
