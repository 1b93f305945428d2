"""The breaker's own states as frozen values; those an operator holds it in are in `held`.

          rate reached               cool-down over
  CLOSED ──────────────▶ OPEN ────────────────────────▶ HALF_OPEN
    ▲                     ▲   a probe failed or got lost   │  │
    │                     └────────────────────────────────┘  │
    └─────────────────────────────────────────────────────────┘
                          the probes succeeded

Each state answers four questions with the state that follows: may this call go (`admit`), what does this
outcome change (`book`), a call ended that says nothing (`give_back`), and time passed (`tick`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Final, Literal, TypeAlias

from .config import BreakerConfig
from .window import NOTHING, Tally, Window, empty_window


class State(StrEnum):
    """The names of the states."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"
    FORCED_OPEN = "FORCED_OPEN"
    DISABLED = "DISABLED"
    METRICS_ONLY = "METRICS_ONLY"


Rate: TypeAlias = Literal["failure", "slow"]
NO_RATE: Final[frozenset[Rate]] = frozenset()


@dataclass(frozen=True, slots=True)
class Rules:
    """The configuration, and the dice (0 to 1) that spread the cool-downs."""

    config: BreakerConfig
    chance: Callable[[], float]

    def over(self, tally: Tally, calls: int) -> frozenset[Rate]:
        """The rates that reach their thresholds when `calls` is the whole."""
        failing = tally.failed * 100 >= self.config.failure_rate_threshold * calls
        crawling = tally.slow * 100 >= self.config.slow_call_rate_threshold * calls
        if not (failing or crawling):
            return NO_RATE
        rates: tuple[tuple[Rate, bool], ...] = (("failure", failing), ("slow", crawling))
        return frozenset(rate for rate, reached in rates if reached)

    def closed(self) -> Closed:
        """Closed, remembering nothing."""
        return Closed(self, empty_window(self.config))

    def opened(self, now: float, *, wait_s: float | None = None, seen: Tally = NOTHING) -> Open:
        """Open for a cool-down around `wait_s`, the first one by default; `seen` is what led here."""
        wait_s = self.config.wait_duration_in_open_state_s if wait_s is None else wait_s
        spread = 1 + self.config.wait_jitter * (2 * self.chance() - 1)
        return Open(self, until=now + wait_s * spread, wait_s=wait_s, seen=seen)

    def reopened(self, now: float, half_open: HalfOpen) -> Open:
        """Open again for longer than the last time."""
        grown = half_open.wait_s * self.config.wait_growth
        wait_s = min(grown, self.config.longest_wait_in_open_state_s)
        return self.opened(now, wait_s=wait_s, seen=half_open.seen)


@dataclass(frozen=True, slots=True)
class BreakerState:
    """A state that lets every call go and learns nothing; the others say where they differ."""

    name: ClassVar[State]
    rules: Rules

    @property
    def ends_at(self) -> float | None:
        """When time alone ends it, if so."""
        return None

    def admit(self, now: float) -> BreakerState | None:  # noqa: ARG002  only probes need the time
        """The state once the call is under way, or None: it must not be made."""
        return self

    def retry_after_s(self, now: float) -> float:  # noqa: ARG002  only waiting states need the time
        """When a refused call is worth another try."""
        return self.rules.config.wait_duration_in_open_state_s

    def book(self, one: Tally, issued_at: float, now: float) -> BreakerState:  # noqa: ARG002  likewise
        """The state after the outcome of a call that began at `issued_at`, in this state."""
        return self

    def give_back(self, issued_at: float) -> BreakerState:  # noqa: ARG002  only probes hold a place
        """The state after a call ended that says nothing."""
        return self

    def tick(self, now: float) -> BreakerState:  # noqa: ARG002  only some states end by themselves
        """The state at that time."""
        return self

    def tally(self, now: float) -> Tally:  # noqa: ARG002  only windows need the time
        """The outcomes it goes by."""
        return NOTHING

    def exceeded(self, now: float) -> frozenset[Rate]:  # noqa: ARG002  only windows need the time
        """The rates that have reached their thresholds."""
        return NO_RATE


@dataclass(frozen=True, slots=True)
class Closed(BreakerState):
    """Calls go, outcomes are counted."""

    name: ClassVar[State] = State.CLOSED
    window: Window

    def book(self, one: Tally, issued_at: float, now: float) -> BreakerState:  # noqa: ARG002  all are alike
        """Open once enough calls were seen and a rate is reached."""
        window = self.window.record(one, now)
        seen = window.tally(now)
        enough = seen.calls >= self.rules.config.minimum_number_of_calls
        if enough and self.rules.over(seen, seen.calls):
            return self.rules.opened(now, seen=seen)
        return Closed(self.rules, window)

    def tally(self, now: float) -> Tally:
        """The window."""
        return self.window.tally(now)


@dataclass(frozen=True, slots=True)
class Open(BreakerState):
    """No call goes until the cool-down is over; `wait_s` is the cool-down before it was spread."""

    name: ClassVar[State] = State.OPEN
    until: float
    wait_s: float
    seen: Tally

    @property
    def ends_at(self) -> float | None:
        """When the cool-down is over."""
        return self.until

    def admit(self, now: float) -> None:
        """Never."""

    def retry_after_s(self, now: float) -> float:
        """When the cool-down is over."""
        return self.until - now

    def tick(self, now: float) -> BreakerState:
        """Probe once the cool-down is over."""
        return HalfOpen(self.rules, self.wait_s) if now >= self.until else self

    def tally(self, now: float) -> Tally:  # noqa: ARG002  it does not change any more
        """What led here."""
        return self.seen

    def exceeded(self, now: float) -> frozenset[Rate]:  # noqa: ARG002  it does not change any more
        """The rates that led here; none if a lost probe or an operator did."""
        return self.rules.over(self.seen, self.seen.calls) if self.seen.calls else NO_RATE


@dataclass(frozen=True, slots=True)
class HalfOpen(BreakerState):
    """A bounded number of probes goes; `out` is when each probe under way left, oldest first."""

    name: ClassVar[State] = State.HALF_OPEN
    wait_s: float
    out: tuple[float, ...] = ()
    seen: Tally = NOTHING

    def admit(self, now: float) -> BreakerState | None:
        """As long as the round has places."""
        if len(self.out) + self.seen.calls >= self._permitted:
            return None
        return replace(self, out=(*self.out, now))

    def retry_after_s(self, now: float) -> float:
        """When the round is over at the latest, but not longer than a first cool-down."""
        return min(self._lost_at() - now, self.rules.config.wait_duration_in_open_state_s)

    def book(self, one: Tally, issued_at: float, now: float) -> BreakerState:
        """Open again as soon as the round cannot be won any more; close when it is won."""
        after = replace(self._without(issued_at), seen=self.seen.plus(one))
        if self.rules.over(after.seen, self._permitted):
            return self.rules.reopened(now, after)
        return self.rules.closed() if after.seen.calls >= self._permitted else after

    def give_back(self, issued_at: float) -> BreakerState:
        """The place is free for another probe."""
        return self._without(issued_at)

    def tick(self, now: float) -> BreakerState:
        """Open again when a probe got lost."""
        return self.rules.reopened(now, self) if self.out and now >= self._lost_at() else self

    def tally(self, now: float) -> Tally:  # noqa: ARG002  a round has no window
        """The round so far."""
        return self.seen

    @property
    def _permitted(self) -> int:
        return self.rules.config.permitted_number_of_calls_in_half_open_state

    def _lost_at(self) -> float:
        return self.out[0] + self.rules.config.max_wait_duration_in_half_open_state_s

    def _without(self, issued_at: float) -> HalfOpen:
        place = self.out.index(issued_at)
        return replace(self, out=self.out[:place] + self.out[place + 1 :])
