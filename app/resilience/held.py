"""The states that an operator holds a breaker in, for a time or until released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from .states import NO_RATE, BreakerState, HalfOpen, Rate, Rules, State
from .window import Tally, Window, empty_window

HeldName: TypeAlias = Literal[State.FORCED_OPEN, State.DISABLED, State.METRICS_ONLY]


@dataclass(frozen=True, slots=True)
class Held(BreakerState):
    """By order until `until`, for ever if that is None."""

    until: float | None

    @property
    def ends_at(self) -> float | None:
        """When the order expires."""
        return self.until

    def tick(self, now: float) -> BreakerState:
        """Begin again when the order expires."""
        return self.released() if self.until is not None and now >= self.until else self

    def released(self) -> BreakerState:
        """Closed, remembering nothing."""
        return self.rules.closed()


@dataclass(frozen=True, slots=True)
class ForcedOpen(Held):
    """No call goes."""

    name: ClassVar[State] = State.FORCED_OPEN

    def admit(self, now: float) -> None:
        """Never."""

    def retry_after_s(self, now: float) -> float:
        """When the order expires; a first cool-down if it does not."""
        wait_s = self.rules.config.wait_duration_in_open_state_s
        return wait_s if self.until is None else self.until - now

    def released(self) -> BreakerState:
        """Ask carefully first: nobody knows how the dependency is."""
        return HalfOpen(self.rules, self.rules.config.wait_duration_in_open_state_s)


@dataclass(frozen=True, slots=True)
class Disabled(Held):
    """Every call goes and nothing is counted."""

    name: ClassVar[State] = State.DISABLED


@dataclass(frozen=True, slots=True)
class MetricsOnly(Held):
    """Every call goes and is counted; it tells when it would have opened."""

    name: ClassVar[State] = State.METRICS_ONLY
    window: Window

    def book(self, one: Tally, issued_at: float, now: float) -> BreakerState:  # noqa: ARG002  all are alike
        """Count."""
        return replace(self, window=self.window.record(one, now))

    def tally(self, now: float) -> Tally:
        """The window."""
        return self.window.tally(now)

    def exceeded(self, now: float) -> frozenset[Rate]:
        """The rates that would have opened it."""
        seen = self.window.tally(now)
        enough = seen.calls >= self.rules.config.minimum_number_of_calls
        return self.rules.over(seen, seen.calls) if enough else NO_RATE


def held(rules: Rules, name: HeldName, until: float | None) -> Held:
    """The state of that name, held until then."""
    if name == State.METRICS_ONLY:
        return MetricsOnly(rules, until, empty_window(rules.config))
    return (ForcedOpen if name == State.FORCED_OPEN else Disabled)(rules, until)
