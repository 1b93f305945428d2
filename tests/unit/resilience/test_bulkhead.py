from __future__ import annotations

import asyncio
import random

import pytest

from app.resilience import Bulkhead, BulkheadConfig, Event, Full


def bulkhead(places: int, *, waiting: int = 0, wait_s: float = 0.0) -> Bulkhead:
    config = BulkheadConfig(max_concurrent_calls=places, max_waiting=waiting, max_wait_duration_s=wait_s)
    return Bulkhead("reviews", config)


async def settled() -> None:
    """Let every task that can run, run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hold(
    slots: Bulkhead, until: asyncio.Event, order: list[int] | None = None, number: int = 0
) -> None:
    async with slots.take():
        if order is not None:
            order.append(number)
        await until.wait()


async def test_a_full_bulkhead_refuses_at_once() -> None:
    slots, end = bulkhead(2), asyncio.Event()
    holders = [asyncio.create_task(hold(slots, end)) for _ in range(2)]
    await settled()
    with pytest.raises(Full) as refused:
        async with slots.take():
            pass
    assert (refused.value.name, refused.value.retry_after_s) == ("reviews", 1.0)
    assert str(refused.value) == "reviews is full"
    assert repr(slots) == "<Bulkhead reviews 2/2>"
    seen = slots.snapshot()
    assert (seen.in_use, seen.available, seen.waiting, seen.rejected) == (2, 0, 0, 1)
    end.set()
    await asyncio.gather(*holders)
    assert slots.snapshot().available == 2


async def test_a_failing_call_gives_its_place_back() -> None:
    slots = bulkhead(1)
    for _ in range(3):
        with pytest.raises(ConnectionError):
            async with slots.take():
                raise ConnectionError
    assert slots.snapshot().in_use == 0


async def test_waiters_are_bounded_and_come_first_in_their_order() -> None:
    slots, end, order = bulkhead(1, waiting=2, wait_s=60), asyncio.Event(), [0]
    first = asyncio.create_task(hold(slots, end))
    await settled()
    waiters = [asyncio.create_task(hold(slots, end, order, number)) for number in (1, 2)]
    await settled()
    assert slots.snapshot().waiting == 2
    with pytest.raises(Full):
        await hold(slots, end)
    end.set()
    await asyncio.gather(first, *waiters)
    assert order == [0, 1, 2]
    assert (slots.snapshot().in_use, slots.snapshot().waiting) == (0, 0)


async def test_a_place_goes_to_the_waiter_before_a_newcomer() -> None:
    slots, first_end, end = bulkhead(1, waiting=1, wait_s=60), asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(hold(slots, first_end))
    await settled()
    waiter = asyncio.create_task(hold(slots, end))
    await settled()
    first_end.set()
    await first
    waiting = asyncio.create_task(hold(slots, end))
    await settled()
    assert (slots.snapshot().in_use, slots.snapshot().waiting) == (1, 1)
    end.set()
    await asyncio.gather(waiter, waiting)


async def test_a_wait_that_is_over_is_a_refusal() -> None:
    slots, end = bulkhead(1, waiting=1, wait_s=0.01), asyncio.Event()
    first = asyncio.create_task(hold(slots, end))
    await settled()
    with pytest.raises(Full):
        await hold(slots, end)
    assert (slots.snapshot().waiting, slots.snapshot().rejected) == (0, 1)
    end.set()
    await first
    assert slots.snapshot().in_use == 0


async def test_a_place_handed_to_a_waiter_who_leaves_in_the_same_moment_is_not_lost() -> None:
    slots, first_end, end = bulkhead(1, waiting=2, wait_s=60), asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(hold(slots, first_end))
    await settled()
    leaver, stayer = (asyncio.create_task(hold(slots, end)) for _ in range(2))
    await settled()
    slots.leave()  # hands the place to the leaver, who has not run since
    leaver.cancel()
    await settled()
    assert (slots.snapshot().in_use, slots.snapshot().waiting) == (1, 0), "the stayer has it"
    end.set()
    await stayer
    assert slots.snapshot().in_use == 0
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_waiter_who_left_is_not_handed_a_place() -> None:
    slots, first_end, end = bulkhead(1, waiting=2, wait_s=60), asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(hold(slots, first_end))
    await settled()
    leaver, stayer = (asyncio.create_task(hold(slots, end)) for _ in range(2))
    await settled()
    leaver.cancel()
    first_end.set()
    end.set()
    await asyncio.gather(first, stayer)
    with pytest.raises(asyncio.CancelledError):
        await leaver
    assert slots.snapshot().in_use == 0


@pytest.mark.parametrize("seed", range(5))
async def test_permits_are_exact_after_a_storm_of_cancellations(seed: int) -> None:
    dice = random.Random(seed)
    slots, running, most = bulkhead(5, waiting=20, wait_s=0.005), 0, 0

    async def caller() -> None:
        nonlocal running, most
        async with slots.take():
            running += 1
            most = max(most, running)
            try:
                for _ in range(dice.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                running -= 1

    for _ in range(100):
        callers = [asyncio.create_task(caller()) for _ in range(10)]
        for one in callers:
            if dice.random() < 0.5:
                for _ in range(dice.randrange(3)):
                    await asyncio.sleep(0)
                one.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
    assert most == 5
    assert (slots.snapshot().in_use, slots.snapshot().waiting) == (0, 0)

    full, end = bulkhead(5), asyncio.Event()
    slots = full
    holders = [asyncio.create_task(hold(slots, end)) for _ in range(6)]
    await settled()
    assert slots.snapshot().in_use == 5
    end.set()
    results = await asyncio.gather(*holders, return_exceptions=True)
    assert sum(isinstance(result, Full) for result in results) == 1


async def test_it_tells_what_it_gives_refuses_and_gets_back() -> None:
    told: list[Event] = []
    slots = Bulkhead("reviews", BulkheadConfig(max_concurrent_calls=1), listeners=[told.append])
    async with slots.take():
        with pytest.raises(Full):
            await slots.enter()
    assert [type(event).__name__ for event in told] == ["CallPermitted", "CallRejected", "CallFinished"]
    assert {event.name for event in told} == {"reviews"}
