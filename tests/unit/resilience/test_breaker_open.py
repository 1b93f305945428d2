"""An open breaker refuses until its cool-down is over, on an injected clock."""

from __future__ import annotations

import pytest

from app.resilience import State

from .breakers import fail, half_opened, opened, refusal, succeed
from .conftest import Bench, state_of


def test_an_open_breaker_refuses_and_says_when_to_come_back(bench: Bench) -> None:
    breaker = opened(bench)
    bench.clock.sleep(4)
    refused = refusal(breaker)
    assert refused.retry_after_s == pytest.approx(6)
    assert (refused.name, refused.state) == ("reviews", "OPEN")
    assert str(refused) == "reviews is OPEN, try again in 6.0 s"


def test_the_cool_down_ends_exactly_on_time(bench: Bench) -> None:
    breaker = opened(bench)
    bench.clock.sleep(9.75)
    assert state_of(breaker) is State.OPEN
    bench.clock.sleep(0.25)
    assert state_of(breaker) is State.HALF_OPEN


def test_every_failed_round_makes_the_cool_down_longer_up_to_the_longest(bench: Bench) -> None:
    breaker = opened(bench)
    waits = []
    for _ in range(5):
        waits.append(refusal(breaker).retry_after_s)
        bench.clock.sleep(waits[-1])
        fail(breaker, 2)
    assert waits == pytest.approx([10, 20, 35, 35, 35])


def test_a_closed_breaker_begins_again_with_the_first_cool_down(bench: Bench) -> None:
    breaker = half_opened(bench)
    fail(breaker, 2)
    bench.clock.sleep(20)
    succeed(breaker, 3)
    assert state_of(breaker) is State.CLOSED
    fail(breaker, 2)
    assert refusal(breaker).retry_after_s == pytest.approx(10)


@pytest.mark.parametrize(("chance", "wait_s"), [(0.0, 8.0), (0.5, 10.0), (1.0, 12.0)])
def test_cool_downs_are_spread(bench: Bench, chance: float, wait_s: float) -> None:
    bench.chance = chance
    assert refusal(opened(bench)).retry_after_s == pytest.approx(wait_s)


def test_the_spread_does_not_add_up_from_round_to_round(bench: Bench) -> None:
    bench.chance = 1.0
    breaker = opened(bench)
    bench.clock.sleep(12)
    fail(breaker, 2)
    assert refusal(breaker).retry_after_s == pytest.approx(24)


def test_a_late_success_from_before_opening_changes_nothing(bench: Bench) -> None:
    breaker = bench.breaker()
    slow = breaker.admit()
    fail(breaker, 2)
    breaker.settle(slow, "successful")
    assert state_of(breaker) is State.OPEN
    bench.clock.sleep(10)
    assert state_of(breaker) is State.HALF_OPEN


def test_a_late_result_counts_in_no_later_state(bench: Bench) -> None:
    breaker = bench.breaker()
    late = [breaker.admit() for _ in range(6)]
    fail(breaker, 2)
    bench.clock.sleep(10)
    assert state_of(breaker) is State.HALF_OPEN
    for verdict in ("failed", "failed", "successful", "ignored"):
        breaker.settle(late.pop(), verdict)
    assert breaker.snapshot().window.calls == 0
    succeed(breaker, 3)
    assert state_of(breaker) is State.CLOSED
    breaker.settle(late.pop(), "failed")
    breaker.settle(late.pop(), "failed")
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().window.calls == 0


def test_simultaneous_failures_beyond_the_threshold_still_lead_to_half_open(bench: Bench) -> None:
    breaker = bench.breaker()
    tickets = [breaker.admit() for _ in range(5)]
    for ticket in tickets:
        breaker.settle(ticket, "failed")
    assert state_of(breaker) is State.OPEN
    bench.clock.sleep(10)
    succeed(breaker, 3)
    assert state_of(breaker) is State.CLOSED
