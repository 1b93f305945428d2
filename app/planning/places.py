"""Places that are held for a time: pools, slots, threads. Little's law and what follows from it.

A finite resource that several paths share ties them together: one path that holds its places longer makes
the others wait, and a wait is no error. These functions say how long, before anybody measures.

Times in seconds, rates per second. Raise `ValueError` for places or times that cannot be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


def in_system(rate_per_s: float, time_s: float) -> float:
    """Little's law: how many are inside when `rate_per_s` come and each stays `time_s`."""
    return _not_negative("rate_per_s", rate_per_s) * _not_negative("time_s", time_s)


def capacity_per_s(places: int, holding_s: float) -> float:
    """How many per second get through, at most: places ÷ holding time."""
    _at_least_one("places", places)
    return math.inf if _not_negative("holding_s", holding_s) == 0 else places / holding_s


def places_needed(rate_per_s: float, holding_s: float) -> int:
    """Places that are busy all the time at this rate; with fewer, a queue grows without end."""
    return math.ceil(in_system(rate_per_s, holding_s) - 1e-9)  # 0.1 × 30 is a little more than 3


def longest_wait_s(places: int, holding_s: float, *, waiting: int) -> float:
    """How long the next one waits when all places were just taken and `waiting` stand before it.

    The places come free together, in rounds: the worst case, and what happens when a dependency makes
    everybody wait for the same time.
    """
    _at_least_one("places", places)
    rounds = _not_negative("waiting", waiting) // places + 1
    return rounds * _not_negative("holding_s", holding_s)


def mean_wait_s(places: int, holding_s: float, *, waiting: int) -> float:
    """The same when the places come free one after another, evenly spread."""
    return (_not_negative("waiting", waiting) + 1) / capacity_per_s(places, holding_s) if holding_s else 0.0


def throughput_per_s(callers: int, time_s: float) -> float:
    """Little's law for callers who ask again as soon as they are answered."""
    if _not_negative("time_s", time_s) == 0:
        raise ValueError("time_s is 0: callers who never wait have no rate")
    return _not_negative("callers", callers) / time_s


def completed(places: int, holding_s: float, *, callers: int, within_s: float, queueing: bool) -> int:
    """How many get through when `callers` ask again and again for `within_s`.

    Those inside at the end are let finish. Without `queueing` whoever finds no place is refused, so that
    nobody stands behind the places at the end.
    """
    working = min(_at_least_one("callers", callers), _at_least_one("places", places))
    rounds = math.floor(within_s / holding_s + 1e-9)
    return rounds * working + (callers if queueing else working)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """What becomes of a resource when one of its users holds its places so much longer.

    `needed` places would be busy all the time; while that is more than there are, everybody who shares
    them waits longer and longer, from `full_after_s` on (None: it never fills).
    """

    needed: int
    full_after_s: float | None

    @property
    def starves(self) -> bool:
        """Whether those who share it die with it."""
        return self.full_after_s is not None


def slowdown(places: int, *, rate_per_s: float, holding_s: float, times: float = 100) -> Slowdown:
    """If the users of this resource become `times` slower, who dies with them? Those who share it, when it starves."""
    _at_least_one("places", places)
    needed = places_needed(rate_per_s, holding_s * times)
    return Slowdown(needed=needed, full_after_s=places / rate_per_s if needed > places else None)


def _at_least_one(name: str, given: int) -> int:
    if given < 1:
        raise ValueError(f"{name} is {given}, must be at least 1")
    return given


def _not_negative(name: str, given: float) -> float:
    if not given >= 0:  # also refuses what is not a number
        raise ValueError(f"{name} is {given}, must not be negative")
    return given
