from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from app.resilience import Breaker, BreakerConfig, Event, State


@dataclass
class Clock:
    """Time that passes when the test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Bench:
    """A breaker, its clock and everything it told."""

    clock: Clock = field(default_factory=Clock)
    events: list[Event] = field(default_factory=list)
    chance: float = 0.5

    def breaker(self, **options: object) -> Breaker:
        """Small numbers: 4 calls in the window, 2 at least, 3 probes, a cool-down of 10 s."""
        small: dict[str, object] = {
            "sliding_window_size": 4,
            "minimum_number_of_calls": 2,
            "slow_call_duration_threshold_s": 5.0,
            "permitted_number_of_calls_in_half_open_state": 3,
            "max_wait_duration_in_half_open_state_s": 30.0,
            "wait_duration_in_open_state_s": 10.0,
            "longest_wait_in_open_state_s": 35.0,
        }
        config = BreakerConfig(**{**small, **options})  # type: ignore[arg-type]  # tests pass any option, wrong ones too
        return Breaker(
            "reviews", config, clock=self.clock, chance=lambda: self.chance, listeners=[self.events.append]
        )

    def told(self) -> list[str]:
        """The names of the events, and forget them."""
        names = [type(event).__name__ for event in self.events]
        self.events.clear()
        return names


def state_of(breaker: Breaker) -> State:
    """The state, seen anew: a type checker takes a property for a constant."""
    return breaker.state


@pytest.fixture
def bench() -> Bench:
    return Bench()
