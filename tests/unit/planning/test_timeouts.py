"""Times that disagree are told, each pair by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.planning.timeouts import BalancerTimes, CheckTimes, ReplicaTimes, detection_s, mismatches, notice_s

CHECK = CheckTimes(inter=2, fast_inter=1, fall=3, timeout=1)
BALANCER = BalancerTimes(check=CHECK, queue=2, client=30, server=10, get=3, client_keep_alive=30)
REPLICA = ReplicaTimes(
    drain_delay=8, shutdown_grace=30, stop=45, keep_alive=75, overdue=10, database=2.6, longest_call=5
)


def test_times_that_agree_are_left_alone() -> None:
    assert mismatches(BALANCER, REPLICA) == []


def test_a_drain_is_noticed_within_fall_times_inter_and_a_second() -> None:
    assert notice_s(CHECK) == 7


def test_a_hung_replica_is_found_after_a_full_interval_and_quick_checks_that_time_out() -> None:
    assert detection_s(CHECK) == 7


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"drain_delay": 6.9}, "notice a drain"),
        ({"stop": 38}, "drain and finish"),
        ({"keep_alive": 30}, "closes idle connections"),
        ({"overdue": 11}, "answers 504"),
        ({"database": 3}, "wait 3 s for the database"),
        ({"longest_call": 10}, "call to a service"),
        ({"shutdown_grace": 9, "stop": 60}, "a request may run for 10 s"),
    ],
)
def test_a_replica_out_of_step_is_told(changes: dict[str, float], told: str) -> None:
    (mismatch,) = mismatches(BALANCER, replace(REPLICA, **changes))
    assert told in mismatch.what
    assert mismatch.mend


def test_a_balancer_that_gives_up_on_its_clients_too_early_is_told() -> None:
    (mismatch,) = mismatches(replace(BALANCER, client=11), REPLICA)
    assert "hangs up" in mismatch.what


def test_checks_that_overlap_are_told() -> None:
    (mismatch,) = mismatches(replace(BALANCER, check=replace(CHECK, timeout=2.5)), REPLICA)
    assert "the next is due" in mismatch.what
