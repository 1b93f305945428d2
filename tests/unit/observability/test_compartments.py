from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from app.observability.compartments import Compartment, Compartments, Usage, predicted_wait_s, row
from app.observability.meter import WINDOW_S, Meter


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def compartment(size: int, usage: Usage, name: str = "outbound") -> Compartment:
    return Compartment(
        name=name, kind="pool", size=size, shared_by=("fast", "slow"), dies="fast", usage=lambda: usage
    )


def test_the_measured_incident_is_predicted_from_the_pool_and_the_holding_time() -> None:
    # 20 connections, 60 callers who hold one for 3 s: 8,997.9 ms were measured.
    usage = Usage(in_use=20, waiting=40, holding_s=3.0, rate_per_s=20 / 3)

    assert predicted_wait_s(compartment(20, usage), usage) == 9.0


def test_a_place_that_is_free_costs_no_wait_and_an_unknown_holding_time_predicts_none() -> None:
    free, unknown = Usage(in_use=19, holding_s=3.0), Usage(in_use=20, waiting=1)

    assert predicted_wait_s(compartment(20, free), free) == 0.0
    assert predicted_wait_s(compartment(20, unknown), unknown) is None


def test_a_row_tells_how_many_places_a_hundredfold_slowdown_would_need() -> None:
    usage = Usage(in_use=1, holding_s=0.005, rate_per_s=200)

    assert row(compartment(20, usage), usage)["needed_when_100_times_slower"] == 100


def test_each_name_is_listed_once() -> None:
    listed = Compartments()
    listed.add(compartment(1, Usage(in_use=0)))
    with pytest.raises(ValueError, match="outbound already"):
        listed.add(compartment(1, Usage(in_use=0)))


def test_a_resource_without_places_or_users_is_refused() -> None:
    with pytest.raises(ValueError, match="size is 0"):
        compartment(0, Usage(in_use=0))
    with pytest.raises(ValueError, match="who uses it"):
        Compartment(name="a", kind="pool", size=1, shared_by=(), dies="", usage=lambda: Usage(in_use=0))


def test_the_meter_knows_the_holding_time_by_littles_law() -> None:
    clock = Clock()
    meter = Meter(clock=clock)
    for _ in range(10):  # ten places held for 3 s each, one after another
        meter.take()
        clock.now += 3
        meter.give()

    held = meter.holding()
    assert held.mean_s == pytest.approx(3.0)
    assert held.rate_per_s == pytest.approx(1 / 3)


def test_places_that_nobody_gives_back_are_seen_while_they_are_held() -> None:
    clock = Clock()
    meter = Meter(clock=clock)
    for _ in range(20):
        meter.take()
    clock.now += 8

    assert meter.holding().mean_s == pytest.approx(8.0)


def test_many_short_stays_do_not_hide_that_nothing_moves_any_more() -> None:
    clock = Clock()
    meter = Meter(clock=clock)
    for _ in range(1000):
        meter.take()
        clock.now += 0.005
        meter.give()
    for _ in range(20):
        meter.take()
    clock.now += 8

    assert (meter.holding().mean_s or 0) == pytest.approx(8.0)


def test_the_meter_forgets_what_is_long_past() -> None:
    clock = Clock()
    meter = Meter(clock=clock)
    meter.take()
    clock.now += 5
    meter.give()
    for _ in range(3):
        clock.now += WINDOW_S
        meter.holding()
    for _ in range(4):
        meter.take()
        clock.now += 1
        meter.give()

    assert meter.holding().mean_s == pytest.approx(1.0)


async def test_the_prediction_agrees_with_a_real_queue() -> None:
    places, holding_s, callers = 5, 0.05, 15
    slots, meter, loop = asyncio.Semaphore(places), Meter(), asyncio.get_running_loop()

    async def slow() -> None:
        async with slots:
            meter.take()
            await asyncio.sleep(holding_s)
            meter.give()

    crowd = [asyncio.create_task(slow()) for _ in range(callers)]
    await asyncio.sleep(0)
    usage = Usage(in_use=meter.in_use, waiting=callers - meter.in_use, holding_s=holding_s)
    predicted = predicted_wait_s(compartment(places, usage), usage)
    began = loop.time()
    async with slots:
        waited = loop.time() - began
    await asyncio.gather(*crowd)

    assert predicted == pytest.approx(3 * holding_s)
    assert predicted is not None
    assert waited >= predicted - 0.01  # a busy machine can only make it longer
