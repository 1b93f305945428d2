"""How many replicas a measured load needs, and when to believe it. Pure: the clock and the measurements are given.

A replica computes on one core, so its load is in percent of one. Growing waits for a whole window of observations
with the replicas of now; shrinking goes one replica at a time, by the worst moment of the window instead of its
mean, and keeps a margin, because a replica too many costs little and one too few costs customers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

# Of the target: fewer replicas must still have this much room at the worst moment that was seen.
_MARGIN: Final = 0.85
# Observations come at intervals, so the first is a little younger than the window.
_WHOLE: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    """Replicas between `least` and `most`, each at about `cpu_percent`, judged over `window`."""

    cpu_percent: float
    window: timedelta
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.cpu_percent <= 100:
            raise ValueError(f"cpu is {self.cpu_percent:g} %; wants 1 to 100, of one core for each replica")
        if self.window < timedelta(seconds=10):
            raise ValueError("the window is shorter than 10s: that is noise, not load")
        if not 1 <= self.least <= self.most:
            raise ValueError(f"min is {self.least} and max {self.most}; wants 1 ≤ min ≤ max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was measured at one moment: the mean load of a replica, and how many there were."""

    at_s: float
    cpu_percent: float
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How many there should be, and why: a sentence for the log."""

    replicas: int
    why: str


def decide(
    policy: ScalingPolicy, seen: Sequence[Observation], *, replicas: int, scheduled: int, now_s: float
) -> Decision | None:
    """What to change now, None for nothing. `scheduled` is how many there must be whatever is measured."""
    least = max(policy.least, scheduled)
    most = max(policy.most, scheduled)
    if replicas < least:
        return Decision(replicas=least, why=f"{least} are wanted at least")
    if replicas > most:
        return Decision(replicas=most, why=f"{most} are allowed at most")
    window = _whole_window(policy, seen, replicas=replicas, now_s=now_s)
    if not window:
        return None
    mean = sum(one.cpu_percent for one in window) / len(window)
    needed = min(most, math.ceil(mean * replicas / policy.cpu_percent - 1e-9))
    if needed > replicas:
        return Decision(replicas=needed, why=_told(mean, "on average", policy))
    worst = max(one.cpu_percent for one in window)
    if replicas > least and worst * replicas / (replicas - 1) <= policy.cpu_percent * _MARGIN:
        return Decision(replicas=replicas - 1, why=_told(worst, "at the most", policy))
    return None


def _whole_window(
    policy: ScalingPolicy, seen: Sequence[Observation], *, replicas: int, now_s: float
) -> Sequence[Observation]:
    """The observations of the window, all of them with as many replicas as now; none where it is not whole yet."""
    length_s = policy.window.total_seconds()
    recent = [one for one in seen if now_s - one.at_s <= length_s]
    since = max((one.at_s for one in recent if one.replicas != replicas), default=-math.inf)
    alike = [one for one in recent if one.at_s > since]
    return alike if alike and now_s - alike[0].at_s >= length_s * _WHOLE else []


def _told(percent: float, how: str, policy: ScalingPolicy) -> str:
    return (
        f"a replica computed {percent:.0f} % of a core {how} over {policy.window.total_seconds():g} s, "
        f"{policy.cpu_percent:g} % is wanted"
    )
