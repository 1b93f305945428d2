"""A half-open breaker tries a round of probes, on an injected clock."""

from __future__ import annotations

import pytest

from app.resilience import State

from .breakers import fail, half_opened, refusal, succeed
from .conftest import Bench, state_of


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
