from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from app.resilience import BudgetSpent, Event, Full, Retry, RetryConfig, deadline
from app.resilience.events import Retried


class Flaky:
    """A call that fails so many times, then succeeds."""

    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self.failures = failures
        self.error = error or ConnectionError("down")
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "ok"


class Pauses:
    """Sleeps that only remember."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def retry(pauses: Callable[[float], Awaitable[None]] | None = None, **options: object) -> Retry:
    config = RetryConfig(**options)  # type: ignore[arg-type]  # any option
    return Retry("reviews", config, chance=lambda: 0.5, sleep=pauses or Pauses())


async def test_a_passing_failure_is_retried() -> None:
    call, pauses = Flaky(1), Pauses()
    assert await retry(pauses).run(call, idempotent=True) == "ok"
    assert call.calls == 2
    assert pauses.slept == [0.025]


async def test_the_last_error_is_the_answer() -> None:
    call = Flaky(9)
    with pytest.raises(ConnectionError):
        await retry(max_attempts=4).run(call, idempotent=True)
    assert call.calls == 4


async def test_pauses_are_drawn_below_a_bound_that_doubles_to_the_longest() -> None:
    pauses = Pauses()
    with pytest.raises(ConnectionError):
        await retry(pauses, max_attempts=6, first_wait_s=1, longest_wait_s=5).run(Flaky(9), idempotent=True)
    assert pauses.slept == [0.5, 1.0, 2.0, 2.5, 2.5]


async def test_what_is_not_idempotent_is_called_once() -> None:
    call = Flaky(1)
    with pytest.raises(ConnectionError):
        await retry().run(call, idempotent=False)
    assert call.calls == 1


@pytest.mark.parametrize("error", [Full("x", retry_after_s=1), BudgetSpent(allowed_s=0)])
async def test_our_own_refusals_are_not_retried(error: Exception) -> None:
    call = Flaky(1, error)
    with pytest.raises(type(error)):
        await retry().run(call, idempotent=True)
    assert call.calls == 1


async def test_a_refusal_of_the_second_attempt_is_not_retried_either() -> None:
    call = Flaky(9)
    with pytest.raises(ConnectionError):
        await retry(max_attempts=5, retry_on=lambda _: call.calls < 2).run(call, idempotent=True)
    assert call.calls == 2


async def test_cancellation_is_not_retried() -> None:
    calls = 0

    async def hang() -> None:
        nonlocal calls
        calls += 1
        await asyncio.Event().wait()

    guarded = retry()
    task = asyncio.create_task(guarded.run(hang, idempotent=True))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls == 1
    assert guarded.snapshot().active == 0


async def test_a_pause_longer_than_what_the_caller_has_left_is_not_begun() -> None:
    call, pauses = Flaky(1), Pauses()
    with deadline.budget(0.02), pytest.raises(ConnectionError):
        await retry(pauses).run(call, idempotent=True)
    assert (call.calls, pauses.slept) == (1, [])


async def test_layers_do_not_multiply() -> None:
    call, inner, outer = Flaky(9), retry(max_attempts=3), retry(max_attempts=3)
    with pytest.raises(ConnectionError):
        await outer.run(lambda: inner.run(call, idempotent=True), idempotent=True)
    assert call.calls == 3
    assert await inner.run(Flaky(1), idempotent=True) == "ok", "outside of another, it retries again"


@pytest.mark.parametrize(("active", "retries"), [(100, 20), (50, 10), (9, 1), (4, 1), (1, 1)])
async def test_retries_are_at_most_a_fifth_of_the_calls_under_way(active: int, retries: int) -> None:
    begun, fall, end = 0, asyncio.Event(), asyncio.Event()
    hung = 0

    async def call() -> None:
        nonlocal begun
        begun += 1
        if begun <= active:
            await fall.wait()
            raise ConnectionError
        await end.wait()

    async def pause(_seconds: float) -> None:
        nonlocal hung
        hung += 1
        await end.wait()

    guarded = retry(pause)
    blocked = asyncio.Event()
    callers = [asyncio.create_task(guarded.run(call, idempotent=True)) for _ in range(active)]
    await asyncio.sleep(0)
    assert guarded.snapshot().active == active
    fall.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert hung <= retries
    assert guarded.snapshot().retrying == hung >= 1
    end.set()
    blocked.set()
    await asyncio.gather(*callers, return_exceptions=True)
    seen = guarded.snapshot()
    assert (seen.active, seen.retrying) == (0, 0)
    assert seen.retried + seen.out_of_budget == active


async def test_without_an_allowance_and_too_few_calls_nothing_is_retried() -> None:
    call = Flaky(1)
    with pytest.raises(ConnectionError):
        await retry(at_least=0).run(call, idempotent=True)
    assert call.calls == 1


async def test_every_retry_is_told() -> None:
    told: list[Event] = []
    guarded = Retry("reviews", RetryConfig(), chance=lambda: 1.0, sleep=Pauses(), listeners=[told.append])
    call = Flaky(1)
    await guarded.run(call, idempotent=True)
    assert told == [Retried(name="reviews", attempt=2, wait_s=0.05, error=call.error)]
