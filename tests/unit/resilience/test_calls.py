"""Guarded calls under real concurrency, cancellation and clocks."""

from __future__ import annotations

import ast
import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

import app.resilience
from app.resilience import Breaker, Full, NotPermitted, State

from .conftest import Bench, state_of


async def half_opened(bench: Bench, **options: object) -> Breaker:
    breaker = bench.breaker(**options)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            async with breaker.call():
                raise ConnectionError
    bench.clock.sleep(10)
    return breaker


async def test_two_hundred_calls_at_the_half_open_moment_reach_the_service_three_times(bench: Bench) -> None:
    breaker = await half_opened(bench)
    heal, arrived = asyncio.Event(), 0

    async def service() -> None:
        nonlocal arrived
        arrived += 1
        await heal.wait()

    callers = [asyncio.create_task(breaker.run(service)) for _ in range(200)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert arrived == 3
    heal.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert sum(isinstance(result, NotPermitted) for result in results) == 197
    assert arrived == 3
    assert state_of(breaker) is State.CLOSED


async def test_cancelled_probes_give_their_places_back(bench: Bench) -> None:
    breaker = await half_opened(bench)
    for _ in range(100):
        callers = [asyncio.create_task(breaker.run(asyncio.Event().wait)) for _ in range(5)]
        await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
    assert state_of(breaker) is State.HALF_OPEN
    for _ in range(3):
        async with breaker.call():
            pass
    assert state_of(breaker) is State.CLOSED


async def test_clients_that_hang_up_never_open_it(bench: Bench) -> None:
    breaker = bench.breaker()
    callers = [asyncio.create_task(breaker.run(asyncio.Event().wait)) for _ in range(100)]
    await asyncio.sleep(0)
    bench.clock.sleep(100)
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    assert state_of(breaker) is State.CLOSED
    assert breaker.snapshot().calls["ignored"] == 100


async def test_answers_settle_a_call_once(bench: Bench) -> None:
    breaker = bench.breaker()
    async with breaker.call() as call:
        call.fail()
        call.succeed()
    async with breaker.call() as call:
        call.ignore()
    async with breaker.call() as call:
        call.succeed()
        bench.clock.sleep(100)  # a client that reads slowly
    with suppress(ConnectionError):
        async with breaker.call() as call:
            call.ignore()
            raise ConnectionError
    assert breaker.snapshot().calls == {"successful": 1, "failed": 1, "ignored": 2, "not_permitted": 0}
    assert breaker.snapshot().window.slow == 0


async def test_not_found_never_opens_it_and_never_hides_the_failures_in_between(bench: Bench) -> None:
    breaker = bench.breaker()
    for _ in range(50):
        async with breaker.call() as call:
            call.ignore()
    assert state_of(breaker) is State.CLOSED
    for status in (500, 404, 500):
        async with breaker.call() as call:
            call.fail() if status == 500 else call.ignore()
    assert state_of(breaker) is State.OPEN


async def test_returned_values_may_be_failures(bench: Bench) -> None:
    async def answer() -> int:
        return 503

    breaker = bench.breaker(record_result=lambda status: status == 503)
    assert [await breaker.run(answer) for _ in range(2)] == [503, 503]
    assert state_of(breaker) is State.OPEN


async def test_arguments_reach_the_call(bench: Bench) -> None:
    async def join(*parts: str, end: str) -> str:
        return "".join(parts) + end

    assert await bench.breaker().run(join, "a", "b", end="!") == "ab!"


async def test_a_refused_call_leaves_no_trace_in_the_window(bench: Bench) -> None:
    breaker = bench.breaker()
    for _ in range(10):
        with pytest.raises(Full):
            async with breaker.call():
                raise Full("their pool", retry_after_s=1)
    assert state_of(breaker) is State.CLOSED


async def test_a_predicate_that_raises_keeps_no_probe(bench: Bench) -> None:
    def broken(_error: Exception) -> bool:
        raise ZeroDivisionError

    breaker = bench.breaker(ignore=broken)
    breaker.trip()
    bench.clock.sleep(10)
    for _ in range(10):
        with pytest.raises(ZeroDivisionError):
            async with breaker.call():
                raise ConnectionError
    for _ in range(3):
        async with breaker.call():
            pass
    assert state_of(breaker) is State.CLOSED


async def test_the_error_told_is_the_error_raised(bench: Bench) -> None:
    breaker = bench.breaker()
    with pytest.raises(ConnectionError) as raised:
        async with breaker.call():
            raise ConnectionError
    assert getattr(bench.events[-1], "error", None) is raised.value


async def test_failures_that_finish_in_the_same_turn_of_the_loop_do_not_stick(bench: Bench) -> None:
    breaker = bench.breaker()
    fall = asyncio.Event()

    async def service() -> None:
        await fall.wait()
        raise ConnectionError

    callers = [asyncio.create_task(breaker.run(service)) for _ in range(3)]
    await asyncio.sleep(0)
    fall.set()
    await asyncio.gather(*callers, return_exceptions=True)
    assert state_of(breaker) is State.OPEN
    bench.clock.sleep(10)
    for _ in range(3):
        async with breaker.call():
            pass
    assert state_of(breaker) is State.CLOSED


def test_no_part_reads_the_wall_clock() -> None:
    wall = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow"}
    for path in Path(app.resilience.__file__).parent.glob("*.py"):
        calls = [
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
        ]
        assert not wall & set(calls), path.name
        assert "datetime" not in path.read_text(), path.name
