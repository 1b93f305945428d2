"""What a breaker tells and shows, and whose fault a failure is, on an injected clock."""

from __future__ import annotations

import pytest

from app.resilience import Breaker, BudgetSpent, Full, NotPermitted, State, TimedOut
from app.resilience.events import (
    CallNotPermitted,
    Error,
    FailureRateExceeded,
    IgnoredError,
    StateTransition,
    Success,
)

from .breakers import fail, half_opened, refusal, succeed
from .conftest import Bench, state_of


def test_it_tells_everything_in_order(bench: Bench) -> None:
    breaker = bench.breaker()
    succeed(breaker)
    breaker.settle(breaker.admit(), "ignored", KeyError("x"))
    fail(breaker)
    with pytest.raises(NotPermitted):
        breaker.admit()
    error = next(event for event in bench.events if isinstance(event, IgnoredError)).error
    assert isinstance(error, KeyError)
    assert bench.events == [
        Success(name="reviews", duration_s=0.0, slow=False, counted=True),
        IgnoredError(name="reviews", duration_s=0.0, error=error),
        FailureRateExceeded(name="reviews", rate=50.0),
        StateTransition(name="reviews", before="CLOSED", after="OPEN"),
        Error(name="reviews", duration_s=0.0, slow=False, counted=True, error=None),
        CallNotPermitted(name="reviews", state="OPEN"),
    ]


def test_late_results_are_told_as_not_counted(bench: Bench) -> None:
    breaker = bench.breaker()
    late_success, late_failure = breaker.admit(), breaker.admit()
    fail(breaker, 2)
    bench.events.clear()
    bench.clock.sleep(6)
    error = OSError()
    breaker.settle(late_success, "successful")
    breaker.settle(late_failure, "failed", error)
    assert bench.events == [
        Success(name="reviews", duration_s=6.0, slow=True, counted=False),
        Error(name="reviews", duration_s=6.0, slow=True, counted=False, error=error),
    ]


def test_every_transition_is_told(bench: Bench) -> None:
    breaker = half_opened(bench)
    succeed(breaker, 3)
    breaker.hold(State.FORCED_OPEN)
    breaker.hold(State.DISABLED)
    breaker.release()
    moves = [(event.before, event.after) for event in bench.events if isinstance(event, StateTransition)]
    assert moves == [
        ("HALF_OPEN", "CLOSED"),
        ("CLOSED", "FORCED_OPEN"),
        ("FORCED_OPEN", "DISABLED"),
        ("DISABLED", "CLOSED"),
    ]


def test_a_failed_round_tells_why(bench: Bench) -> None:
    breaker = half_opened(bench)
    fail(breaker, 2)
    assert bench.told() == ["Error", "FailureRateExceeded", "StateTransition", "Error"]


def test_both_rates_are_told_when_both_are_reached(bench: Bench) -> None:
    breaker = bench.breaker()
    tickets = [breaker.admit(), breaker.admit()]
    bench.clock.sleep(5)
    for ticket in tickets:
        breaker.settle(ticket, "failed")
    assert bench.told() == [
        "Error",
        "FailureRateExceeded",
        "SlowCallRateExceeded",
        "StateTransition",
        "Error",
    ]


def test_a_snapshot_shows_everything(bench: Bench) -> None:
    breaker = bench.breaker(minimum_number_of_calls=3)
    succeed(breaker)
    fail(breaker)
    few = breaker.snapshot()
    assert (few.failure_rate, few.slow_call_rate, few.until_s) == (None, None, None)
    ticket = breaker.admit()
    bench.clock.sleep(5)
    breaker.settle(ticket, "failed")
    refusal(breaker)
    bench.clock.sleep(1)
    seen = breaker.snapshot()
    assert seen.name == "reviews"
    assert seen.state is State.OPEN
    assert seen.until_s == pytest.approx(9)
    assert seen.window == (3, 2, 1, 1)
    assert seen.failure_rate == pytest.approx(200 / 3)
    assert seen.slow_call_rate == pytest.approx(100 / 3)
    assert seen.calls == {"successful": 1, "failed": 2, "ignored": 0, "not_permitted": 1}


def test_a_snapshot_of_a_round_counts_its_probes(bench: Bench) -> None:
    breaker = half_opened(bench)
    fail(breaker)
    assert breaker.snapshot().window == (1, 1, 0, 0)
    assert breaker.snapshot().until_s is None


def test_a_listener_that_raises_breaks_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_event: object) -> None:
        raise RuntimeError("no disk")

    told: list[object] = []
    breaker = Breaker("reviews", bench.breaker().config, clock=bench.clock, listeners=[broken, told.append])
    fail(breaker, 2)
    assert state_of(breaker) is State.OPEN
    refusal(breaker)
    assert len(told) == 5
    assert "a listener failed" in caplog.text


def test_a_listener_may_turn_the_breaker_it_hears_of(bench: Bench) -> None:
    def operator(event: object) -> None:
        if isinstance(event, StateTransition) and event.after == "OPEN":
            breaker.hold(State.DISABLED)

    breaker = Breaker("reviews", bench.breaker().config, clock=bench.clock, listeners=[operator])
    fail(breaker, 5)
    assert state_of(breaker) is State.DISABLED


def test_our_own_overload_is_never_their_failure(bench: Bench) -> None:
    breaker = bench.breaker()
    ticket = breaker.admit()
    assert breaker.judge(ticket, Full("pool", retry_after_s=1)) == "ignored"
    assert breaker.judge(ticket, NotPermitted("x", state="OPEN", retry_after_s=1)) == "ignored"


def test_our_deadline_is_a_failure_and_the_callers_only_if_the_call_was_slow(bench: Bench) -> None:
    breaker = bench.breaker()
    ticket = breaker.admit()
    assert breaker.judge(ticket, TimedOut(allowed_s=1)) == "failed"
    assert breaker.judge(ticket, BudgetSpent(allowed_s=1)) == "ignored"
    bench.clock.sleep(5)
    assert breaker.judge(ticket, BudgetSpent(allowed_s=1)) == "failed"


def test_predicates_decide_which_errors_count_and_ignoring_wins(bench: Bench) -> None:
    breaker = bench.breaker(
        record=lambda error: isinstance(error, OSError),
        ignore=lambda error: isinstance(error, FileNotFoundError),
    )
    ticket = breaker.admit()
    assert breaker.judge(ticket, OSError()) == "failed"
    assert breaker.judge(ticket, FileNotFoundError()) == "ignored"
    assert breaker.judge(ticket, KeyError()) == "successful"
    assert bench.breaker().judge(ticket, KeyError()) == "failed"
