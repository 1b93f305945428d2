from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.resilience.window import CountWindow, Tally, TimeWindow, outcome

Calls = list[tuple[bool, bool, float]]
calls = st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0, 3)), max_size=40)


def counted(kept: list[tuple[bool, bool]]) -> Tally:
    return Tally(
        len(kept),
        sum(failed for failed, _ in kept),
        sum(slow for _, slow in kept),
        sum(failed and slow for failed, slow in kept),
    )


@given(calls=calls, size=st.integers(1, 8))
def test_a_count_window_holds_the_newest_calls(calls: Calls, size: int) -> None:
    window = CountWindow(size)
    for failed, slow, _ in calls:
        window = window.record(outcome(failed=failed, slow=slow), 0.0)
    assert window.tally(0.0) == counted([call[:2] for call in calls[-size:]])


@given(calls=calls, size=st.integers(1, 8), later=st.floats(0, 12))
def test_a_time_window_holds_the_calls_of_the_last_seconds(calls: Calls, size: int, later: float) -> None:
    window, now, seen = TimeWindow(size), 100.0, []
    for failed, slow, pause in calls:
        now += pause
        window = window.record(outcome(failed=failed, slow=slow), now)
        seen.append((failed, slow, now))
    now += later
    kept = [(failed, slow) for failed, slow, at in seen if int(at) > int(now) - size]
    assert window.tally(now) == counted(kept)


def test_a_time_window_keeps_no_more_buckets_than_seconds() -> None:
    window = TimeWindow(3)
    for second in range(1000, 1100):
        window = window.record(outcome(failed=False, slow=False), second + 0.5)
        window = window.record(outcome(failed=False, slow=False), second + 0.6)
    assert len(window.buckets) == 3


@pytest.mark.parametrize("empty", [CountWindow, TimeWindow])
def test_recording_leaves_the_old_window_as_it_was(empty: Callable[[int], CountWindow | TimeWindow]) -> None:
    window = empty(2)
    window.record(outcome(failed=True, slow=True), 1.0)
    assert window.tally(1.0) == Tally()
