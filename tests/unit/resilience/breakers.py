"""Steps that bring a breaker where a test wants it."""

from __future__ import annotations

import pytest

from app.resilience import Breaker, NotPermitted, State

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
