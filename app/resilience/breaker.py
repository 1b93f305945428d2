"""The breaker: stop asking a dependency that does not answer, and begin again carefully.

It belongs to one event loop; nothing here awaits, so every step is whole. What time changes (a cool-down
that is over, a lost probe, an order that expired) is noticed by whoever looks next.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, TracebackType
from typing import ParamSpec, Self, TypeVar, get_args

from .announcer import Announcer, Verdict
from .config import BreakerConfig, demand, demand_seconds
from .errors import BudgetSpent, NotPermitted, Refused
from .events import Listener
from .held import Held, HeldName, held
from .states import BreakerState, Rules, State
from .window import Tally, outcome

P = ParamSpec("P")
T = TypeVar("T")
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to make one call, good for the generation of the state that gave it."""

    generation: int
    issued_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerSnapshot:
    """A breaker at one moment.

    `until_s` is what is left of a cool-down or an order, `window` the outcomes it goes by, the rates are
    percentages of those and None below the minimum number of calls, `calls` are totals for ever by
    ``successful``, ``failed``, ``ignored`` and ``not_permitted``.
    """

    name: str
    state: State
    until_s: float | None
    window: Tally
    failure_rate: float | None
    slow_call_rate: float | None
    calls: Mapping[str, int]


class Breaker:
    """Keeps calls away from a dependency that fails or crawls.

    ``async with breaker.call() as call:`` raises `NotPermitted`, or runs the block and learns from how it
    ends. An error that `BreakerConfig` records is a failure, and so is our own deadline (`TimedOut`). Not
    their failure, and a probe's place is given back: cancellation (the client hung up), every `Refused`
    (our own overload), and `BudgetSpent` unless the call had lasted as long as a slow one.
    """

    def __init__(
        self,
        name: str,
        config: BreakerConfig | None = None,
        *,
        clock: Clock = time.monotonic,
        chance: Callable[[], float] = random.random,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.name = name
        self.config = BreakerConfig() if config is None else config
        self._clock = clock
        self._announcer = Announcer(name, listeners)
        self._rules = Rules(self.config, chance)
        self._state: BreakerState = self._rules.closed()
        self._generation = 0
        self._counts = Counter(successful=0, failed=0, ignored=0, not_permitted=0)

    def __repr__(self) -> str:
        return f"<Breaker {self.name} {self._state.name}>"

    @property
    def state(self) -> State:
        """The state now."""
        self._tick(self._clock())
        return self._state.name

    def call(self) -> Call:
        """One guarded call, as an async context manager."""
        return Call(self)

    async def run(self, func: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Await the call; what it returns is a failure if `record_result` says so."""
        async with self.call() as call:
            return call.returned(await func(*args, **kwargs))

    def admit(self) -> Ticket:
        """Leave for one call, to be settled exactly once; `call` does both. Raises `NotPermitted`."""
        now = self._clock()
        self._tick(now)
        admitted = self._state.admit(now)
        if admitted is None:
            raise self._refusal(now)
        self._become(admitted, now)
        return Ticket(self._generation, now)

    def settle(self, ticket: Ticket, verdict: Verdict, error: BaseException | None = None) -> None:
        """Learn how the call of that ticket ended; a ticket of an earlier state changes nothing."""
        now = self._clock()
        self._tick(now)
        self._counts[verdict] += 1
        slow = self._is_slow(ticket, now)
        counted = ticket.generation == self._generation
        if counted:
            self._become(self._after(ticket, verdict, now, slow=slow), now)
        self._announcer.outcome(verdict, error, now - ticket.issued_at, slow=slow, counted=counted)

    def judge(self, ticket: Ticket, error: BaseException) -> Verdict:
        """Whose fault an error is."""
        if isinstance(error, BudgetSpent):
            return "failed" if self._is_slow(ticket, self._clock()) else "ignored"
        if not isinstance(error, Exception) or isinstance(error, Refused) or self.config.ignore(error):
            return "ignored"
        return "failed" if self.config.record(error) else "successful"

    def hold(self, name: HeldName, *, for_s: float | None = None) -> None:
        """Hold it in that state by order, for a time or until `release`; holding again renews the time."""
        demand("state", name, "one of " + ", ".join(get_args(HeldName)), holds=name in get_args(HeldName))
        if for_s is not None:
            demand_seconds("for_s", for_s)
        now = self._clock()
        self._tick(now)
        until = None if for_s is None else now + for_s
        if isinstance(self._state, Held) and self._state.name == name:
            self._become(replace(self._state, until=until), now)
        else:
            self._become(held(self._rules, name, until), now)

    def release(self) -> None:
        """End the order, if there is one: FORCED_OPEN begins to probe, the others close."""
        if isinstance(self._state, Held):
            self._become(self._state.released(), self._clock())

    def trip(self) -> None:
        """Open now, for a first cool-down."""
        now = self._clock()
        self._become(self._rules.opened(now), now)

    def reset(self) -> None:
        """Close now and forget everything; calls under way no longer count."""
        self._generation += 1
        self._become(self._rules.closed(), self._clock())
        self._announcer.reset()

    def snapshot(self) -> BreakerSnapshot:
        """Everything there is to see."""
        now = self._clock()
        self._tick(now)
        seen = self._state.tally(now)
        enough = seen.calls >= self.config.minimum_number_of_calls
        ends_at = self._state.ends_at
        return BreakerSnapshot(
            name=self.name,
            state=self._state.name,
            until_s=None if ends_at is None else ends_at - now,
            window=seen,
            failure_rate=seen.failure_rate if enough else None,
            slow_call_rate=seen.slow_rate if enough else None,
            calls=MappingProxyType(dict(self._counts)),
        )

    def _refusal(self, now: float) -> NotPermitted:
        self._counts["not_permitted"] += 1
        state = self._state
        refusal = NotPermitted(self.name, state=state.name, retry_after_s=state.retry_after_s(now))
        self._announcer.refused(refusal)
        return refusal

    def _after(self, ticket: Ticket, verdict: Verdict, now: float, *, slow: bool) -> BreakerState:
        if verdict == "ignored":
            return self._state.give_back(ticket.issued_at)
        return self._state.book(outcome(failed=verdict == "failed", slow=slow), ticket.issued_at, now)

    def _is_slow(self, ticket: Ticket, now: float) -> bool:
        return now - ticket.issued_at >= self.config.slow_call_duration_threshold_s

    def _tick(self, now: float) -> None:
        self._become(self._state.tick(now), now)

    def _become(self, after: BreakerState, now: float) -> None:
        """Every change of state passes here; another name makes every ticket given before stale."""
        before, self._state = self._state, after
        if before is not after:
            self._generation += before.name is not after.name
            self._announcer.change(before, after, now)


class Call:
    """One guarded call; settled once, by `succeed`, `fail` or `ignore`, else by how the block ends."""

    __slots__ = ("_breaker", "_ticket")

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._ticket: Ticket | None = None

    async def __aenter__(self) -> Self:
        self._ticket = self._breaker.admit()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._settle("successful")
        elif self._ticket is not None:
            self._learn(self._ticket, error)

    def succeed(self) -> None:
        """The answer is good; what comes later, such as a client that reads slowly, does not count."""
        self._settle("successful")

    def fail(self) -> None:
        """The answer says that the dependency fails, as a 500 does."""
        self._settle("failed")

    def ignore(self) -> None:
        """The answer says nothing about the dependency, as a 404 does."""
        self._settle("ignored")

    def returned(self, result: T) -> T:
        """The result, which is a failure if `record_result` says so."""
        if self._breaker.config.record_result(result):
            self.fail()
        return result

    def _learn(self, ticket: Ticket, error: BaseException) -> None:
        verdict: Verdict = "ignored"
        try:
            verdict = self._breaker.judge(ticket, error)
        finally:  # a predicate that raises must not keep a probe's place
            self._settle(verdict, error)

    def _settle(self, verdict: Verdict, error: BaseException | None = None) -> None:
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._breaker.settle(ticket, verdict, error)
