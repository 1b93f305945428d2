"""How long the places of a resource are held, by Little's law instead of a stopwatch for each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

WINDOW_S = 30.0
"""Figures cover the last one to two windows: long enough to be calm, short enough to show an incident."""


@dataclass(frozen=True, slots=True)
class _Mark:
    at: float
    busy_s: float
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """`mean_s` is None while nothing was held; `rate_per_s` counts places given back."""

    rate_per_s: float
    mean_s: float | None


class Meter:
    """Told of each place that is taken and given back; belongs to one thread."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.in_use = 0
        self._clock = clock
        self._at = self._changed_at = clock()
        self._busy_s = 0.0
        self._given = 0
        self._older = self._newer = _Mark(self._at, 0.0, 0)

    def take(self) -> None:
        """A place was taken."""
        self._changed_at = self._pass_time()
        self.in_use += 1

    def give(self) -> None:
        """A place was given back."""
        self._changed_at = self._pass_time()
        self.in_use -= 1
        self._given += 1

    def holding(self) -> Holding:
        """What the last windows show.

        A place that is still held counts with the time it was held so far. Where nothing moves any more,
        everybody inside has been there at least since the last move, whatever was usual before.
        """
        self._pass_time()
        since = self._older
        passed_s, busy_s = self._at - since.at, self._busy_s - since.busy_s
        given = self._given - since.given
        ended = max(given, self.in_use)
        still_s = self._at - self._changed_at if self.in_use else 0.0
        return Holding(
            rate_per_s=given / passed_s if passed_s > 0 else 0.0,
            mean_s=max(busy_s / ended, still_s) if ended and busy_s > 0 else None,
        )

    def _pass_time(self) -> float:
        now = self._clock()
        self._busy_s += self.in_use * (now - self._at)
        self._at = now
        if now - self._newer.at >= WINDOW_S:
            self._older, self._newer = self._newer, _Mark(now, self._busy_s, self._given)
        return now
