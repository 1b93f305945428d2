"""Breakers, bulkheads and limiters are seen under resilience4j's names, in the log and as compartments."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from app.observability.compartments import row
from app.observability.resilience import ResilienceWatch
from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    Full,
    Limiter,
    LimiterConfig,
    NotPermitted,
)


def watched() -> tuple[CollectorRegistry, ResilienceWatch]:
    registry = CollectorRegistry()
    return registry, ResilienceWatch(registry)


async def fail(breaker: Breaker) -> None:
    with suppress(NotPermitted):
        async with breaker.call() as call:
            call.fail()


async def test_a_breaker_is_seen_under_the_names_that_dashboards_know() -> None:
    registry, watch = watched()
    config = BreakerConfig(minimum_number_of_calls=2, sliding_window_size=2)
    breaker = Breaker("payments", config, listeners=[watch])
    watch.add(breaker)
    async with breaker.call():
        pass
    for _ in range(3):
        await fail(breaker)

    metrics = generate_latest(registry).decode()
    for line in (
        'resilience4j_circuitbreaker_state{name="payments",state="open"} 1.0',
        'resilience4j_circuitbreaker_state{name="payments",state="closed"} 0.0',
        'resilience4j_circuitbreaker_calls_seconds_count{kind="failed",name="payments"} 1.0',
        'resilience4j_circuitbreaker_calls_seconds_count{kind="successful",name="payments"} 1.0',
        'resilience4j_circuitbreaker_not_permitted_calls_total{kind="not_permitted",name="payments"} 2.0',
        'resilience4j_circuitbreaker_failure_rate{name="payments"} 50.0',
        'resilience4j_events_total{event="state_transition",name="payments"} 1.0',
        'resilience4j_events_total{event="failure_rate_exceeded",name="payments"} 1.0',
        'resilience4j_events_total{event="not_permitted",name="payments"} 2.0',
    ):
        assert line.split("{")[0] in metrics
        assert _has(metrics, line)


async def test_what_an_operator_would_want_to_know_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    _, watch = watched()
    config = BreakerConfig(minimum_number_of_calls=2, sliding_window_size=2)
    breaker = Breaker("payments", config, listeners=[watch])
    for _ in range(5):
        await fail(breaker)
    breaker.reset()

    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "100 % of the calls to payments failed",
        "breaker payments went from CLOSED to OPEN",
        "breaker payments went from OPEN to CLOSED",
        "breaker payments was reset",
    ]


async def test_a_full_bulkhead_shows_its_use_and_predicts_the_wait() -> None:
    registry, watch = watched()
    config = BulkheadConfig(max_concurrent_calls=2, max_waiting=3, max_wait_duration_s=60)
    slots = Bulkhead("reviews", config, listeners=[watch])
    watch.add(slots)
    compartment = watch.slots(slots, shared_by=["product pages"], dies="reviews alone")
    release = asyncio.Event()

    async def hold() -> None:
        async with slots.take():
            await release.wait()

    callers = [asyncio.create_task(hold()) for _ in range(5)]
    await asyncio.sleep(0)  # they hold from here on, however late their turn was
    await asyncio.sleep(0.06)
    with pytest.raises(Full):
        await slots.enter()

    seen = row(compartment, compartment.usage())
    assert (seen["in_use"], seen["size"], seen["waiting"], seen["rejected"]) == (2, 2, 3, 1)
    held_s, wait_s = seen["holding_s"], seen["predicted_wait_s"]
    assert held_s is not None
    assert held_s >= 0.05
    assert wait_s == pytest.approx(2 * held_s, abs=0.001)  # the fourth in line: two rounds of two
    metrics = generate_latest(registry).decode()
    assert _has(metrics, 'resilience4j_bulkhead_available_concurrent_calls{name="reviews"} 0.0')

    release.set()
    await asyncio.gather(*callers)
    assert compartment.usage().in_use == 0
    assert (compartment.usage().rate_per_s or 0) > 0


async def test_a_thread_limiter_is_a_compartment_too() -> None:
    registry, watch = watched()
    limiter = Limiter("hashing", LimiterConfig(max_threads=2), listeners=[watch])
    watch.add(limiter)
    compartment = watch.threads(limiter, shared_by=["log-in"], dies="log-in")
    await asyncio.gather(*(limiter.run(sum, [1, 2]) for _ in range(8)))

    assert (compartment.kind, compartment.size) == ("limiter", 2)
    assert compartment.usage().holding_s is not None
    assert _has(
        generate_latest(registry).decode(), 'resilience4j_bulkhead_max_thread_pool_size{name="hashing"} 2.0'
    )


def _has(metrics: str, line: str) -> bool:
    """Whether the sample is there, in whatever order its labels are."""
    name, labels, value = _parsed(line)
    return any(_parsed(found) == (name, labels, value) for found in metrics.splitlines() if found[:1] != "#")


def _parsed(line: str) -> tuple[str, frozenset[str], str]:
    head, _, value = line.rpartition(" ")
    name, _, labels = head.partition("{")
    return name, frozenset(labels.rstrip("}").split(",")), value
