"""When replicas are added and taken away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from app.planning.scaling import Decision, Observation, ScalingPolicy, decide

POLICY = ScalingPolicy(cpu_percent=60, window=timedelta(minutes=3), least=2, most=8)
NOW = 10_000.0


def over_a_window(*percents: float, replicas: int = 2, length_s: float = 180) -> list[Observation]:
    """Evenly spread until now, the first at the beginning."""
    step = length_s / max(1, len(percents) - 1)
    return [
        Observation(at_s=NOW - length_s + step * number, cpu_percent=percent, replicas=replicas)
        for number, percent in enumerate(percents)
    ]


def decided(seen: Sequence[Observation], *, replicas: int = 2, scheduled: int = 0) -> int | None:
    decision = decide(POLICY, seen, replicas=replicas, scheduled=scheduled, now_s=NOW)
    return decision.replicas if decision is not None else None


def test_a_load_above_the_target_gets_as_many_replicas_as_it_needs() -> None:
    assert decided(over_a_window(90, 90, 90)) == 3
    assert decided(over_a_window(100, 100, 100), replicas=2) == 4
    assert decided(over_a_window(100, 100, 100, replicas=7), replicas=7) == 8


def test_a_load_at_the_target_changes_nothing() -> None:
    assert decided(over_a_window(60, 60, 60)) is None


def test_a_peak_within_a_quiet_window_changes_nothing() -> None:
    assert decided(over_a_window(10, 10, 100, 10, 10, 10)) is None


def test_nothing_changes_before_a_whole_window_was_seen() -> None:
    assert decided(over_a_window(100, 100, 100, length_s=120)) is None
    assert decided([]) is None


def test_what_was_seen_with_another_number_of_replicas_does_not_count() -> None:
    """After a change the window begins anew, or the same load would be counted twice."""
    before, after = over_a_window(100, 100, replicas=2), over_a_window(95, 95, replicas=4, length_s=60)
    assert decided([*before, *after], replicas=4) is None


def test_what_is_older_than_the_window_does_not_count() -> None:
    old = [Observation(at_s=NOW - 300, cpu_percent=100, replicas=2)]
    assert decided([*old, *over_a_window(50, 50, 50)]) is None


def test_it_shrinks_one_at_a_time_by_the_worst_moment_and_with_a_margin() -> None:
    assert decided(over_a_window(5, 5, 5, replicas=6), replicas=6) == 5
    # 5 replicas would be at 24 % in the mean, but at 60 % in that moment.
    assert decided(over_a_window(20, 50, 20, replicas=6), replicas=6) is None
    assert decided(over_a_window(40, 40, 40, replicas=4), replicas=4) is None  # 53 % of the 51 % allowed
    assert decided(over_a_window(38, 38, 38, replicas=4), replicas=4) == 3


def test_growing_and_shrinking_never_take_turns() -> None:
    """Whatever the load: once shrunk for it, it does not grow for it."""
    for percent in range(101):
        for replicas in range(3, 9):
            smaller = decided(over_a_window(percent, percent, replicas=replicas), replicas=replicas)
            if smaller is None or smaller > replicas:
                continue
            then = percent * replicas / smaller
            assert decided(over_a_window(then, then, replicas=smaller), replicas=smaller) in {
                None,
                smaller - 1,
            }


def test_the_schedule_and_the_limits_hold_at_once_whatever_was_seen() -> None:
    assert decided([], replicas=1) == 2
    assert decided([], replicas=2, scheduled=4) == 4
    assert decided(over_a_window(0, 0, 0, replicas=4), replicas=4, scheduled=4) is None
    assert decided([], replicas=9) == 8
    # The operator who schedules more than --max means it.
    assert decided([], replicas=8, scheduled=10) == 10


def test_a_decision_says_why() -> None:
    decision = decide(POLICY, over_a_window(90, 90), replicas=2, scheduled=0, now_s=NOW)
    assert decision == Decision(
        replicas=3, why="a replica computed 90 % of a core on average over 180 s, 60 % is wanted"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cpu_percent": 0.0}, "1 to 100"),
        ({"cpu_percent": float("nan")}, "1 to 100"),
        ({"window": timedelta(seconds=5)}, "noise"),
        ({"least": 0}, "1 ≤ min ≤ max"),
        ({"least": 9}, "1 ≤ min ≤ max"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(changes: dict[str, object], words: str) -> None:
    given = {"cpu_percent": 60.0, "window": timedelta(minutes=3), "least": 2, "most": 8, **changes}
    with pytest.raises(ValueError, match=words):
        ScalingPolicy(**given)  # type: ignore[arg-type]
