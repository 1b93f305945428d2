from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.resilience import Event, Full, Limiter, LimiterConfig, TimedOut, deadline


class Work:
    """Blocking work that ends when the test says so, and counts how many threads are at it."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.lock = threading.Lock()
        self.running = self.most = self.done = 0

    def __call__(self, answer: int = 0) -> int:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.end.wait(20)
        with self.lock:
            self.running -= 1
            self.done += 1
        return answer


@contextmanager
def released(work: Work) -> Iterator[Work]:
    """A failing test leaves no thread behind."""
    try:
        yield work
    finally:
        work.end.set()


async def until(limiter: Limiter, *, busy: int, queued: int = 0) -> None:
    async with asyncio.timeout(20):
        while (limiter.snapshot().busy, limiter.snapshot().queue_depth) != (busy, queued):  # noqa: ASYNC110  a snapshot wakes nobody
            await asyncio.sleep(0.001)


def limiter(threads: int, queue: int) -> Limiter:
    return Limiter("hashing", LimiterConfig(max_threads=threads, queue_capacity=queue))


async def test_it_returns_what_the_work_returns_and_raises_what_it_raises() -> None:
    hashing = limiter(1, 0)
    assert await hashing.run(int, "ff", base=16) == 255
    with pytest.raises(ValueError, match="invalid literal"):
        await hashing.run(int, "zz")
    assert hashing.snapshot().busy == 0


async def test_a_full_queue_refuses_at_once() -> None:
    hashing = limiter(2, 3)
    with released(Work()) as work:
        callers = [asyncio.create_task(hashing.run(work, number)) for number in range(5)]
        await until(hashing, busy=2, queued=3)
        with pytest.raises(Full) as refused:
            await hashing.run(work)
        assert (refused.value.name, refused.value.retry_after_s) == ("hashing", 1.0)
        assert hashing.snapshot().rejected == 1
        work.end.set()
        assert await asyncio.gather(*callers) == [0, 1, 2, 3, 4]
    assert work.most <= 2
    await until(hashing, busy=0)


async def test_one_kind_of_work_never_delays_another() -> None:
    reports, hashing = limiter(4, 100), limiter(1, 10)
    with released(Work()) as work:
        slow = [asyncio.create_task(reports.run(work)) for _ in range(100)]
        await until(reports, busy=4, queued=96)
        assert await hashing.run(int, "1") == 1
        assert work.done == 0
        work.end.set()
        await asyncio.gather(*slow)


async def test_a_caller_who_leaves_is_let_go_at_once_but_the_thread_keeps_its_place() -> None:
    hashing = limiter(1, 0)
    with released(Work()) as work:
        with pytest.raises(TimedOut):
            async with deadline.spend(0.01):
                await hashing.run(work)
        assert hashing.snapshot().busy == 1
        with pytest.raises(Full):
            await hashing.run(work)
        work.end.set()
        await until(hashing, busy=0)
        assert await hashing.run(work, 7) == 7


async def test_a_caller_who_leaves_the_queue_leaves_nothing_behind() -> None:
    hashing = limiter(1, 1)
    with released(Work()) as work:
        first = asyncio.create_task(hashing.run(work))
        await until(hashing, busy=1)
        second = asyncio.create_task(hashing.run(work))
        await until(hashing, busy=1, queued=1)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        await until(hashing, busy=1, queued=0)
        work.end.set()
        await first
    assert work.done == 1, "the work of who left was never begun"


async def test_threads_stay_within_the_limit_through_a_storm_of_cancellations() -> None:
    dice = random.Random(7)
    hashing = limiter(3, 1000)
    work = Work()

    def short() -> None:
        work(0)

    with released(work):
        callers = [asyncio.create_task(hashing.run(short)) for _ in range(300)]
        for caller in callers:
            if dice.random() < 0.7:
                await asyncio.sleep(0)
                caller.cancel()
        work.end.set()
        await asyncio.gather(*callers, return_exceptions=True)
    await until(hashing, busy=0)
    assert work.most <= 3
    assert await asyncio.gather(*(hashing.run(int, "1") for _ in range(10))) == [1] * 10


async def test_the_error_of_work_that_nobody_waits_for_disturbs_nobody() -> None:
    hashing, end = limiter(1, 0), threading.Event()

    def fail() -> None:
        end.wait(20)
        raise ValueError("nobody listens")

    caller = asyncio.create_task(hashing.run(fail))
    await until(hashing, busy=1)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    end.set()
    await until(hashing, busy=0)


async def test_it_tells_what_it_gives_refuses_and_gets_back() -> None:
    told: list[Event] = []
    hashing = Limiter("hashing", LimiterConfig(max_threads=1, queue_capacity=0), listeners=[told.append])
    with released(Work()) as work:
        caller = asyncio.create_task(hashing.run(work))
        await until(hashing, busy=1)
        with pytest.raises(Full):
            await hashing.run(work)
        work.end.set()
        await caller
    assert [type(event).__name__ for event in told] == ["CallPermitted", "CallRejected", "CallFinished"]


def test_it_can_be_made_before_there_is_a_loop() -> None:
    assert limiter(2, 3).snapshot().max_threads == 2
