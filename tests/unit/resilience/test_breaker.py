"""The breaker's states, step by step, on an injected clock."""

from __future__ import annotations

import pytest

from app.resilience import Breaker, BudgetSpent, Full, Misconfigured, NotPermitted, State, TimedOut
from app.resilience.events import (
    CallNotPermitted,
    Error,
    FailureRateExceeded,
    IgnoredError,
    Reset,
    SlowCallRateExceeded,
    StateTransition,
    Success,
)

from .conftest import Bench, state_of


def succeed(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.settle(breaker.admit(), "successful")


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.settle(breaker.admit(), "failed")


def refusal(breaker: Breaker) -> NotPermitted:
    with pytest.raises(NotPermitted) as refused:
        breaker.admit()
    return refused.value


def opened(bench: Bench, **options: object) -> Breaker:
    breaker = bench.breaker(**options)
    fail(breaker, 2)
    assert state_of(breaker) is State.OPEN
    return breaker


def half_opened(bench: Bench, **options: object) -> Breaker:
    breaker = opened(bench, **options)
    bench.clock.sleep(10)
    assert state_of(breaker) is State.HALF_OPEN
    bench.events.clear()
    return breaker


# CLOSED


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


# OPEN


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


# HALF_OPEN


def test_half_open_lets_only_the_permitted_probes_go(bench: Bench) -> None:
    breaker = half_opened(bench)
    probes = [breaker.admit() for _ in range(3)]
    refusal(breaker)
    breaker.settle(probes[0], "successful")
    refusal(breaker)


@pytest.mark.parametrize(("permitted", "back", "out"), [(2, 1, 1), (4, 2, 2), (4, 1, 3), (4, 3, 1)])
def test_places_are_counted_over_probes_that_are_back_and_probes_that_are_out(
    bench: Bench, permitted: int, back: int, out: int
) -> None:
    breaker = half_opened(bench, permitted_number_of_calls_in_half_open_state=permitted)
    succeed(breaker, back)
    for _ in range(out):
        breaker.admit()
    refusal(breaker)


@pytest.mark.parametrize("leaver", [0, 1, 2])
def test_each_probe_gives_back_its_own_place(bench: Bench, leaver: int) -> None:
    breaker = half_opened(bench)
    probes = []
    for _ in range(3):
        probes.append(breaker.admit())
        bench.clock.sleep(1)
    breaker.settle(probes.pop(leaver), "ignored")
    breaker.admit()
    refusal(breaker)
    for probe in probes:
        breaker.settle(probe, "successful")
    assert state_of(breaker) is State.HALF_OPEN


def test_probes_that_succeed_close_it(bench: Bench) -> None:
    breaker = half_opened(bench)
    succeed(breaker, 2)
    assert state_of(breaker) is State.HALF_OPEN
    succeed(breaker)
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().window.calls == 0


def test_it_opens_again_as_soon_as_the_round_cannot_be_won(bench: Bench) -> None:
    breaker = half_opened(bench)
    fail(breaker)
    assert state_of(breaker) is State.HALF_OPEN
    fail(breaker)
    assert state_of(breaker) is State.OPEN


def test_one_failed_probe_of_three_is_under_the_threshold(bench: Bench) -> None:
    breaker = half_opened(bench)
    fail(breaker)
    succeed(breaker, 2)
    assert state_of(breaker) is State.CLOSED


def test_slow_probes_open_it_again(bench: Bench) -> None:
    breaker = half_opened(bench)
    probes = [breaker.admit() for _ in range(3)]
    bench.clock.sleep(5)
    for probe in probes:
        breaker.settle(probe, "successful")
    assert state_of(breaker) is State.OPEN


def test_an_ignored_probe_gives_its_place_back_and_the_round_reaches_a_verdict(bench: Bench) -> None:
    breaker = half_opened(bench)
    probes = [breaker.admit() for _ in range(3)]
    for probe in probes:
        breaker.settle(probe, "ignored")
    assert state_of(breaker) is State.HALF_OPEN
    succeed(breaker, 3)
    assert state_of(breaker) is State.CLOSED


def test_a_lost_probe_ends_the_round_by_its_deadline(bench: Bench) -> None:
    breaker = half_opened(bench)
    lost = breaker.admit()
    bench.clock.sleep(29.75)
    assert state_of(breaker) is State.HALF_OPEN
    bench.clock.sleep(0.25)
    assert state_of(breaker) is State.OPEN
    assert refusal(breaker).retry_after_s == pytest.approx(20)
    assert bench.told() == ["StateTransition", "CallNotPermitted"]
    breaker.settle(lost, "successful")
    assert state_of(breaker) is State.OPEN


def test_the_oldest_probe_sets_the_deadline_of_the_round(bench: Bench) -> None:
    breaker = half_opened(bench)
    first = breaker.admit()
    bench.clock.sleep(20)
    second = breaker.admit()
    breaker.settle(first, "ignored")
    bench.clock.sleep(29)
    assert state_of(breaker) is State.HALF_OPEN
    breaker.settle(second, "successful")
    bench.clock.sleep(1000)
    assert state_of(breaker) is State.HALF_OPEN, "nobody is out, so nothing got lost"


def test_one_lost_probe_is_enough_however_young_the_others_are(bench: Bench) -> None:
    breaker = half_opened(bench)
    breaker.admit()
    bench.clock.sleep(20)
    breaker.admit()
    bench.clock.sleep(10)
    assert state_of(breaker) is State.OPEN


def test_a_large_round_has_as_many_places(bench: Bench) -> None:
    breaker = half_opened(bench, permitted_number_of_calls_in_half_open_state=300)
    probes = [breaker.admit() for _ in range(300)]
    refusal(breaker)
    for probe in probes:
        breaker.settle(probe, "successful")
    assert state_of(breaker) is State.CLOSED


def test_after_hundreds_of_changes_results_still_count(bench: Bench) -> None:
    breaker = bench.breaker()
    for _ in range(300):
        breaker.reset()
    fail(breaker, 2)
    assert state_of(breaker) is State.OPEN


def test_a_result_at_the_deadline_comes_too_late(bench: Bench) -> None:
    breaker = half_opened(bench, permitted_number_of_calls_in_half_open_state=1)
    probe = breaker.admit()
    bench.clock.sleep(30)
    breaker.settle(probe, "successful")
    assert state_of(breaker) is State.OPEN


def test_a_full_round_says_to_come_back_no_later_than_its_end(bench: Bench) -> None:
    breaker = half_opened(bench)
    for _ in range(3):
        breaker.admit()
    assert refusal(breaker).retry_after_s == pytest.approx(10)
    bench.clock.sleep(25)
    refused = refusal(breaker)
    assert refused.retry_after_s == pytest.approx(5)
    assert refused.state == "HALF_OPEN"


# held by an operator


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


# what it tells and shows


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


# whose fault


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
