"""Slot, breaker, deadline, pool: in that order, and everything comes back."""

from __future__ import annotations

import asyncio
import random

import pytest

from app.resilience import (
    Breaker,
    BreakerConfig,
    BudgetSpent,
    Bulkhead,
    BulkheadConfig,
    Full,
    Guard,
    Misconfigured,
    NotPermitted,
    State,
    TimedOut,
    deadline,
)


def guard(places: int = 2, *, timeout_s: float = 60.0, **options: object) -> Guard:
    small: dict[str, object] = {"sliding_window_size": 4, "minimum_number_of_calls": 2}
    config = BreakerConfig(**{**small, **options})  # type: ignore[arg-type]  # any option
    slots = Bulkhead("reviews", BulkheadConfig(max_concurrent_calls=places))
    return Guard(slots=slots, breaker=Breaker("reviews.list", config), timeout_s=timeout_s, pool_size=places)


async def hang() -> None:
    await asyncio.Event().wait()


async def answer(status: int) -> int:
    return status


async def test_more_slots_than_connections_are_refused() -> None:
    with pytest.raises(Misconfigured, match="max_concurrent_calls is 11, must be at most pool_size=10"):
        Guard(
            slots=Bulkhead("x", BulkheadConfig(max_concurrent_calls=11)),
            breaker=Breaker("x"),
            timeout_s=1,
            pool_size=10,
        )
    with pytest.raises(Misconfigured, match="timeout_s is 0"):
        Guard(slots=Bulkhead("x"), breaker=Breaker("x"), timeout_s=0, pool_size=25)
    assert repr(guard()) == "<Guard <Bulkhead reviews 0/2> <Breaker reviews.list CLOSED> 60.0 s>"


async def test_a_call_inside_knows_how_long_it_may_take() -> None:
    async with guard(timeout_s=5).call():
        assert 4 < (deadline.left_s() or 0) <= 5


async def test_our_own_overload_is_refused_before_the_breaker_hears_of_it() -> None:
    guarded = guard(2)
    holders = [asyncio.create_task(guarded.run(hang)) for _ in range(2)]
    await asyncio.sleep(0)
    for _ in range(50):
        with pytest.raises(Full):
            await guarded.run(hang)
    assert guarded.breaker.state is State.CLOSED
    assert guarded.breaker.snapshot().calls["ignored"] == 0
    for holder in holders:
        holder.cancel()
    await asyncio.gather(*holders, return_exceptions=True)


async def test_a_dependency_that_hangs_opens_the_breaker_by_our_deadline() -> None:
    guarded = guard(timeout_s=0.01)
    for _ in range(2):
        with pytest.raises(TimedOut):
            await guarded.run(hang)
    with pytest.raises(NotPermitted):
        await guarded.run(hang)
    assert guarded.slots.snapshot().in_use == 0


async def test_callers_in_a_hurry_do_not_open_the_breaker_for_everyone() -> None:
    guarded = guard()
    for _ in range(5):
        with deadline.budget(0.002), pytest.raises(BudgetSpent):
            await guarded.run(hang)
    with deadline.budget(0), pytest.raises(BudgetSpent):
        await guarded.run(hang)
    assert guarded.breaker.state is State.CLOSED


async def test_healthy_but_slow_answers_and_impatient_clients_leave_it_closed() -> None:
    guarded = guard(100)
    clients = [asyncio.create_task(guarded.run(hang)) for _ in range(100)]
    await asyncio.sleep(0)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    assert guarded.breaker.state is State.CLOSED
    assert guarded.slots.snapshot().in_use == 0


async def test_slow_answers_react_although_all_succeed() -> None:
    guarded = guard(slow_call_duration_threshold_s=0.005)
    for _ in range(2):
        await guarded.run(asyncio.sleep, 0.01)
    assert guarded.breaker.state is State.OPEN


async def test_answers_are_judged_by_what_they_say() -> None:
    guarded = guard(record_result=lambda status: status == 500)
    assert [await guarded.run(answer, status) for status in (500, 200)] == [500, 200]
    assert guarded.breaker.state is State.OPEN


async def test_an_open_breaker_holds_no_slot() -> None:
    guarded = guard(1)
    guarded.breaker.trip()
    for _ in range(3):
        with pytest.raises(NotPermitted):
            await guarded.run(hang)
    assert guarded.slots.snapshot().in_use == 0


async def test_everything_is_back_at_its_number_after_four_thousand_calls_cancelled_at_random() -> None:
    dice = random.Random(5)
    guarded = guard(10)

    async def call() -> None:
        async with guarded.call():
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)

    for _ in range(100):
        calls = [asyncio.create_task(call()) for _ in range(40)]
        for one in calls:
            if dice.random() < 0.3:
                await asyncio.sleep(0)
            if dice.random() < 0.7:
                one.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert guarded.slots.snapshot().in_use == 0
    assert guarded.breaker.state is State.CLOSED
    for _ in range(10):
        assert await guarded.run(answer, 200) == 200


async def test_a_slow_endpoint_leaves_the_breaker_of_its_neighbour_alone() -> None:
    slots = Bulkhead("reviews", BulkheadConfig(max_concurrent_calls=2))
    config = BreakerConfig(sliding_window_size=2, minimum_number_of_calls=2)
    slow, healthy = (
        Guard(slots=slots, breaker=Breaker(f"reviews.{name}", config), timeout_s=0.01, pool_size=2)
        for name in ("slow", "healthy")
    )
    for _ in range(2):
        with pytest.raises(TimedOut):
            await slow.run(hang)
    assert slow.breaker.state is State.OPEN
    assert await healthy.run(answer, 200) == 200
