"""A breaker that an operator holds, on an injected clock."""

from __future__ import annotations

import pytest

from app.resilience import Misconfigured, State
from app.resilience.events import FailureRateExceeded, Reset

from .breakers import fail, opened, refusal, succeed
from .conftest import Bench, state_of


def test_forced_open_refuses_until_the_order_expires_and_then_probes(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.FORCED_OPEN, for_s=600)
    assert refusal(breaker).retry_after_s == pytest.approx(600)
    bench.clock.sleep(599.75)
    assert refusal(breaker).state == "FORCED_OPEN"
    bench.clock.sleep(0.25)
    assert state_of(breaker) is State.HALF_OPEN
    for _ in range(3):
        breaker.admit()
    refusal(breaker)


def test_an_order_without_expiry_holds_until_released(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.FORCED_OPEN)
    assert breaker.snapshot().until_s is None
    bench.clock.sleep(1e9)
    assert refusal(breaker).retry_after_s == pytest.approx(10)
    breaker.release()
    assert state_of(breaker) is State.HALF_OPEN
    fail(breaker, 2)
    assert refusal(breaker).retry_after_s == pytest.approx(20)


def test_disabled_lets_everything_go_and_learns_nothing(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.DISABLED, for_s=60)
    fail(breaker, 50)
    assert state_of(breaker) is State.DISABLED
    assert breaker.snapshot().window.calls == 0
    bench.clock.sleep(60)
    assert state_of(breaker) is State.CLOSED


def test_metrics_only_never_refuses_but_tells(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.METRICS_ONLY, for_s=60)
    bench.events.clear()
    fail(breaker)
    assert FailureRateExceeded not in map(type, bench.events)
    fail(breaker)
    assert FailureRateExceeded in map(type, bench.events)
    fail(breaker, 8)
    assert state_of(breaker) is State.METRICS_ONLY
    assert bench.events.count(FailureRateExceeded(name="reviews", rate=100.0)) == 1, "told once"
    assert breaker.snapshot().failure_rate == 100
    succeed(breaker, 4)
    fail(breaker, 2)
    assert bench.events.count(FailureRateExceeded(name="reviews", rate=50.0)) == 1, (
        "and again when reached again"
    )
    bench.clock.sleep(60)
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().window.calls == 0


def test_holding_again_renews_the_time_and_keeps_the_counts(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.METRICS_ONLY, for_s=10)
    fail(breaker, 2)
    under_way = breaker.admit()
    bench.clock.sleep(4)
    bench.events.clear()
    breaker.hold(State.METRICS_ONLY, for_s=10)
    assert bench.told() == []
    assert breaker.snapshot().until_s == pytest.approx(10)
    breaker.settle(under_way, "failed")
    assert breaker.snapshot().window.calls == 3


def test_one_order_follows_another(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.FORCED_OPEN, for_s=10)
    breaker.hold(State.DISABLED)
    bench.clock.sleep(100)
    assert state_of(breaker) is State.DISABLED
    breaker.hold(State.FORCED_OPEN)
    assert state_of(breaker) is State.FORCED_OPEN


def test_an_order_that_expired_is_not_renewed(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.METRICS_ONLY, for_s=10)
    fail(breaker)
    bench.clock.sleep(10)
    breaker.hold(State.METRICS_ONLY, for_s=10)
    assert breaker.snapshot().window.calls == 0


def test_releasing_closes_and_without_an_order_does_nothing(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.DISABLED)
    breaker.release()
    assert state_of(breaker) is State.CLOSED
    breaker.hold(State.METRICS_ONLY)
    breaker.release()
    assert state_of(breaker) is State.CLOSED
    fail(breaker, 2)
    breaker.release()
    assert state_of(breaker) is State.OPEN


@pytest.mark.parametrize("for_s", [0, -1, float("inf"), float("nan")])
def test_an_order_for_no_time_is_refused(bench: Bench, for_s: float) -> None:
    breaker = bench.breaker()
    with pytest.raises(Misconfigured, match="for_s"):
        breaker.hold(State.FORCED_OPEN, for_s=for_s)
    assert state_of(breaker) is State.CLOSED


def test_only_the_three_states_can_be_held(bench: Bench) -> None:
    with pytest.raises(Misconfigured, match="one of FORCED_OPEN, DISABLED, METRICS_ONLY"):
        bench.breaker().hold(State.CLOSED)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("name", ["FORCED_OPEN", "DISABLED", "METRICS_ONLY"])
def test_an_operator_may_name_the_state_in_plain_text(bench: Bench, name: str) -> None:
    breaker = bench.breaker()
    for _ in range(2):
        breaker.hold(name)  # type: ignore[arg-type]  # as it comes from a command line
        assert breaker.state.name == name
    assert bench.told() == ["StateTransition"]


def test_renewing_in_plain_text_keeps_the_counts_too(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.hold(State.METRICS_ONLY)
    fail(breaker)
    breaker.hold("METRICS_ONLY")  # type: ignore[arg-type]  # as it comes from a command line
    assert breaker.snapshot().window.calls == 1


def test_tripping_opens_for_a_first_cool_down_and_then_recovers(bench: Bench) -> None:
    breaker = bench.breaker()
    breaker.trip()
    assert refusal(breaker).retry_after_s == pytest.approx(10)
    assert "FailureRateExceeded" not in bench.told()
    bench.clock.sleep(10)
    succeed(breaker, 3)
    assert state_of(breaker) is State.CLOSED


def test_reset_closes_and_forgets_calls_under_way(bench: Bench) -> None:
    breaker = bench.breaker()
    under_way = breaker.admit()
    fail(breaker)
    breaker.reset()
    assert bench.told()[-1] == "Reset"
    assert breaker.snapshot().window.calls == 0
    breaker.settle(under_way, "failed")
    fail(breaker)
    assert state_of(breaker) is State.CLOSED
    assert Reset(name="reviews") not in bench.events


def test_reset_ends_an_open_state(bench: Bench) -> None:
    breaker = opened(bench)
    breaker.reset()
    assert state_of(breaker) is State.CLOSED
