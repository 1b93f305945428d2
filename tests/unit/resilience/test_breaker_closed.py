"""A closed breaker counts, on an injected clock."""

from __future__ import annotations

from app.resilience import State
from app.resilience.events import SlowCallRateExceeded

from .breakers import fail, succeed
from .conftest import Bench, state_of


def test_a_new_breaker_is_closed_and_says_so(bench: Bench) -> None:
    breaker = bench.breaker()
    assert state_of(breaker) is State.CLOSED
    assert repr(breaker) == "<Breaker reviews CLOSED>"
    assert bench.told() == []


def test_it_opens_when_the_failure_rate_reaches_its_threshold(bench: Bench) -> None:
    breaker = bench.breaker()
    succeed(breaker, 2)
    fail(breaker)
    assert state_of(breaker) is State.CLOSED
    fail(breaker)
    assert state_of(breaker) is State.OPEN


def test_just_under_the_threshold_it_stays_closed(bench: Bench) -> None:
    breaker = bench.breaker(failure_rate_threshold=50.1)
    succeed(breaker, 2)
    fail(breaker, 2)
    assert state_of(breaker) is State.CLOSED


def test_below_the_minimum_number_of_calls_nothing_opens_it(bench: Bench) -> None:
    breaker = bench.breaker(minimum_number_of_calls=3)
    fail(breaker, 2)
    assert state_of(breaker) is State.CLOSED
    fail(breaker)
    assert state_of(breaker) is State.OPEN


def test_old_outcomes_leave_the_window(bench: Bench) -> None:
    breaker = bench.breaker(minimum_number_of_calls=4, failure_rate_threshold=60)
    fail(breaker, 2)
    succeed(breaker, 4)
    fail(breaker, 2)
    assert state_of(breaker) is State.CLOSED


def test_a_time_window_forgets_by_time(bench: Bench) -> None:
    breaker = bench.breaker(sliding_window_type="time", sliding_window_size=10)
    fail(breaker)
    bench.clock.sleep(10)
    fail(breaker)
    assert state_of(breaker) is State.CLOSED
    bench.clock.sleep(9)
    fail(breaker)
    assert state_of(breaker) is State.OPEN


def test_slow_calls_open_it_without_a_single_error(bench: Bench) -> None:
    breaker = bench.breaker(slow_call_rate_threshold=50)
    succeed(breaker, 2)
    for _ in range(2):
        ticket = breaker.admit()
        bench.clock.sleep(5)
        breaker.settle(ticket, "successful")
    assert state_of(breaker) is State.OPEN
    assert SlowCallRateExceeded(name="reviews", rate=50.0) in bench.events


def test_a_call_just_under_the_slow_threshold_is_not_slow(bench: Bench) -> None:
    breaker = bench.breaker(slow_call_rate_threshold=1)
    for _ in range(4):
        ticket = breaker.admit()
        bench.clock.sleep(4.999)
        breaker.settle(ticket, "successful")
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().window.slow == 0


def test_just_under_the_slow_threshold_it_stays_closed(bench: Bench) -> None:
    breaker = bench.breaker(slow_call_rate_threshold=50.1)
    succeed(breaker, 2)
    tickets = [breaker.admit() for _ in range(2)]
    bench.clock.sleep(5)
    for ticket in tickets:
        breaker.settle(ticket, "successful")
    assert state_of(breaker) is State.CLOSED


def test_ignored_outcomes_neither_open_it_nor_hide_failures(bench: Bench) -> None:
    breaker = bench.breaker()
    for _ in range(50):
        breaker.settle(breaker.admit(), "ignored")
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().window.calls == 0
    for _ in range(2):
        fail(breaker)
        if state_of(breaker) is State.CLOSED:
            breaker.settle(breaker.admit(), "ignored")
    assert state_of(breaker) is State.OPEN
