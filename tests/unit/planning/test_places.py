"""The arithmetic agrees with published measurements of a shared pool, a pool of its own and a cap."""

from __future__ import annotations

import math

import pytest

from app.planning.places import (
    capacity_per_s,
    completed,
    in_system,
    longest_wait_s,
    mean_wait_s,
    places_needed,
    slowdown,
    throughput_per_s,
)


def test_a_shared_pool_of_20_under_60_callers_of_3_s_makes_an_unrelated_call_wait_9_s() -> None:
    # Measured on a real service: p50 8,997.9 ms, p99 9,002.0 ms.
    wait_s = longest_wait_s(20, 3.0, waiting=60 - 20)

    assert wait_s == 9.0
    assert math.floor(throughput_per_s(50, wait_s)) == 5  # 5 req/s where 57,225 went before


def test_a_shared_thread_pool_of_20_under_60_jobs_of_2_s_makes_a_5_ms_job_wait_6_s() -> None:
    # Measured: p50 6,009.4 ms and 8 jobs per second.
    wait_s = longest_wait_s(20, 2.0, waiting=60 - 20)

    assert wait_s + 0.005 == pytest.approx(6.0094, rel=0.001)
    assert math.floor(throughput_per_s(50, wait_s + 0.005)) == 8


def test_littles_law_finds_the_50_callers_of_the_measured_runs() -> None:
    assert in_system(3_308, 0.0151) == pytest.approx(50, rel=0.01)
    assert in_system(3_303, 0.0151) == pytest.approx(50, rel=0.01)


def test_a_pool_of_its_own_completes_120_slow_calls_and_a_cap_of_10_completes_40() -> None:
    own_pool = completed(20, 3.0, callers=60, within_s=10, queueing=True)
    capped = completed(10, 3.0, callers=60, within_s=10, queueing=False)

    assert (own_pool, capped) == (120, 40)


def test_an_executor_of_100_carries_four_pages_a_second_that_hold_three_workers_for_8_s() -> None:
    assert capacity_per_s(100, 3 * 8.0) == pytest.approx(4.17, abs=0.01)
    assert places_needed(50, 3 * 8.0) == 1200


def test_a_compartment_of_10_for_the_slow_service_leaves_the_others_alone() -> None:
    assert capacity_per_s(10, 8.0) == 1.25
    assert capacity_per_s(40, 0.05) == 800  # the catalogue's own places, whatever the reviews do


def test_refusing_in_a_millisecond_frees_a_place_8000_times_sooner_than_waiting_8_s() -> None:
    assert capacity_per_s(10, 0.001) / capacity_per_s(10, 8.0) == pytest.approx(8000)


def test_a_free_place_costs_one_holding_time_at_worst_and_its_share_on_average() -> None:
    assert longest_wait_s(10, 2.0, waiting=0) == 2.0
    assert mean_wait_s(10, 2.0, waiting=0) == 0.2
    assert mean_wait_s(10, 0.0, waiting=5) == 0.0


def test_a_hundredfold_slowdown_starves_a_pool_that_was_nearly_idle() -> None:
    # 200 calls a second of 5 ms keep one place busy; at 500 ms they want 100 of the 20.
    calm = slowdown(20, rate_per_s=200, holding_s=0.005, times=1)
    crawling = slowdown(20, rate_per_s=200, holding_s=0.005)

    assert (calm.needed, calm.starves) == (1, False)
    assert (crawling.needed, crawling.starves, crawling.full_after_s) == (100, True, 0.1)


def test_an_unused_resource_starves_nobody() -> None:
    assert not slowdown(1, rate_per_s=0, holding_s=0).starves


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="places is 0"):
        capacity_per_s(0, 1)
    with pytest.raises(ValueError, match="holding_s is -1"):
        capacity_per_s(1, -1)
    with pytest.raises(ValueError, match="time_s is nan"):
        in_system(1, math.nan)
    with pytest.raises(ValueError, match="never wait"):
        throughput_per_s(1, 0)
