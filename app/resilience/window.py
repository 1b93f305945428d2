"""Sliding windows over the outcomes of calls, as frozen values: recording gives a new window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, Self

from .config import BreakerConfig


class Tally(NamedTuple):
    """Outcomes counted; `slow_failed` are those that were both."""

    calls: int = 0
    failed: int = 0
    slow: int = 0
    slow_failed: int = 0

    @property
    def failure_rate(self) -> float:
        """In percent of the calls, of which there are some."""
        return self.failed * 100 / self.calls

    @property
    def slow_rate(self) -> float:
        """In percent of the calls, of which there are some."""
        return self.slow * 100 / self.calls

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            self.calls + other.calls,
            self.failed + other.failed,
            self.slow + other.slow,
            self.slow_failed + other.slow_failed,
        )

    def minus(self, other: Tally) -> Tally:
        """What is left when the other goes."""
        return Tally(
            self.calls - other.calls,
            self.failed - other.failed,
            self.slow - other.slow,
            self.slow_failed - other.slow_failed,
        )


NOTHING: Final = Tally()


def outcome(*, failed: bool, slow: bool) -> Tally:
    """One call."""
    return Tally(1, int(failed), int(slow), int(failed and slow))


class Window(Protocol):
    """What happened lately."""

    def record(self, one: Tally, now: float) -> Self:
        """The window with one more outcome, without those that left it."""

    def tally(self, now: float) -> Tally:
        """Everything in the window at that time."""


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` outcomes, one bit each: the newest is bit 0."""

    size: int
    calls: int = 0
    failed: int = 0
    slow: int = 0

    def record(self, one: Tally, now: float) -> Self:  # noqa: ARG002  the count ignores time
        """The oldest outcome leaves a full window."""
        mask = (1 << self.size) - 1
        return type(self)(
            self.size,
            min(self.calls + 1, self.size),
            (self.failed << 1 | one.failed) & mask,
            (self.slow << 1 | one.slow) & mask,
        )

    def tally(self, now: float) -> Tally:  # noqa: ARG002  the count ignores time
        """All outcomes kept."""
        both = self.failed & self.slow
        return Tally(self.calls, self.failed.bit_count(), self.slow.bit_count(), both.bit_count())


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The outcomes of the last `size` seconds, in buckets of one second, oldest first."""

    size: int
    buckets: tuple[tuple[int, Tally], ...] = ()
    total: Tally = NOTHING

    def record(self, one: Tally, now: float) -> Self:
        """Buckets of more than `size` seconds ago leave."""
        second = int(now)
        kept = self._since(second)
        total = kept.total.plus(one)
        if kept.buckets and kept.buckets[-1][0] == second:
            last = (second, kept.buckets[-1][1].plus(one))
            return type(self)(self.size, (*kept.buckets[:-1], last), total)
        return type(self)(self.size, (*kept.buckets, (second, one)), total)

    def tally(self, now: float) -> Tally:
        """All outcomes that have not left by now."""
        return self._since(int(now)).total

    def _since(self, second: int) -> Self:
        left = 0
        total = self.total
        while left < len(self.buckets) and self.buckets[left][0] <= second - self.size:
            total = total.minus(self.buckets[left][1])
            left += 1
        return type(self)(self.size, self.buckets[left:], total) if left else self


def empty_window(config: BreakerConfig) -> Window:
    """The window that the configuration asks for, with nothing in it."""
    kind = CountWindow if config.sliding_window_type == "count" else TimeWindow
    return kind(config.sliding_window_size)
