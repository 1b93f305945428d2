"""Metric names as data, resilience4j's in their Prometheus form, and the samples of a snapshot.

No metrics library is needed: whoever has one reads `METRICS` and asks for `samples`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from .breaker import BreakerSnapshot
from .bulkhead import BulkheadSnapshot
from .limiter import LimiterSnapshot
from .retry import RetrySnapshot
from .states import State

Snapshot = BreakerSnapshot | BulkheadSnapshot | LimiterSnapshot | RetrySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric: its name, what kind it is, its labels, and one sentence."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    labels: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of the metric of that name."""

    name: str
    labels: Mapping[str, str]
    value: float


def _metric(name: str, kind: Literal["gauge", "counter", "histogram"], labels: str, text: str) -> Metric:
    return Metric(name=f"resilience4j_{name}", kind=kind, labels=tuple(labels.split()), help=text)


METRICS: Final = (
    _metric("circuitbreaker_state", "gauge", "name state", "1 for the state the breaker is in, else 0."),
    _metric(
        "circuitbreaker_calls_total",
        "counter",
        "name kind",
        "Calls by outcome, also those that no longer counted.",
    ),
    _metric(
        "circuitbreaker_calls_seconds", "histogram", "name kind", "Duration of calls; fed by the events."
    ),
    _metric(
        "circuitbreaker_not_permitted_calls_total", "counter", "name kind", "Calls refused by the breaker."
    ),
    _metric("circuitbreaker_buffered_calls", "gauge", "name kind", "Outcomes the breaker goes by."),
    _metric("circuitbreaker_slow_calls", "gauge", "name kind", "Slow ones among them."),
    _metric("circuitbreaker_failure_rate", "gauge", "name", "Percent; -1 below the minimum number of calls."),
    _metric(
        "circuitbreaker_slow_call_rate", "gauge", "name", "Percent; -1 below the minimum number of calls."
    ),
    _metric("bulkhead_available_concurrent_calls", "gauge", "name", "Free places."),
    _metric("bulkhead_max_allowed_concurrent_calls", "gauge", "name", "Places."),
    _metric("bulkhead_waiting_calls", "gauge", "name", "Callers in the waiting room."),
    _metric("bulkhead_rejected_calls_total", "counter", "name", "Callers refused."),
    _metric("bulkhead_thread_pool_size", "gauge", "name", "Threads at work."),
    _metric("bulkhead_max_thread_pool_size", "gauge", "name", "Threads allowed."),
    _metric("bulkhead_queue_depth", "gauge", "name", "Callers waiting for a thread."),
    _metric("bulkhead_queue_capacity", "gauge", "name", "Callers that may wait for a thread."),
    _metric("retry_active_calls", "gauge", "name", "Calls under way that may be retried."),
    _metric("retry_retrying_calls", "gauge", "name", "Those of them that are being retried."),
    _metric("retry_retries_total", "counter", "name", "Attempts after the first."),
    _metric("retry_out_of_budget_total", "counter", "name", "Retries not made, to spare the dependency."),
)
"""`bulkhead_waiting_calls`, `bulkhead_rejected_calls_total` and the retry gauges are ours, the rest resilience4j's."""


def samples(snapshot: Snapshot) -> Iterator[Sample]:
    """Everything a snapshot shows, under the names of `METRICS`."""
    match snapshot:
        case BreakerSnapshot():
            return _breaker(snapshot)
        case BulkheadSnapshot():
            return _bulkhead(snapshot)
        case LimiterSnapshot():
            return _limiter(snapshot)
        case RetrySnapshot():
            return _retry(snapshot)


def _breaker(seen: BreakerSnapshot) -> Iterator[Sample]:
    for state in State:
        yield _sample("circuitbreaker_state", seen.name, state is seen.state, state=state.lower())
    for kind in ("successful", "failed", "ignored"):
        yield _sample("circuitbreaker_calls_total", seen.name, seen.calls[kind], kind=kind)
    refused = seen.calls["not_permitted"]
    yield _sample("circuitbreaker_not_permitted_calls_total", seen.name, refused, kind="not_permitted")
    window = seen.window
    good, slow_good = window.calls - window.failed, window.slow - window.slow_failed
    yield _sample("circuitbreaker_buffered_calls", seen.name, good, kind="successful")
    yield _sample("circuitbreaker_buffered_calls", seen.name, window.failed, kind="failed")
    yield _sample("circuitbreaker_slow_calls", seen.name, slow_good, kind="successful")
    yield _sample("circuitbreaker_slow_calls", seen.name, window.slow_failed, kind="failed")
    yield _sample("circuitbreaker_failure_rate", seen.name, _rate(seen.failure_rate))
    yield _sample("circuitbreaker_slow_call_rate", seen.name, _rate(seen.slow_call_rate))


def _bulkhead(seen: BulkheadSnapshot) -> Iterator[Sample]:
    yield _sample("bulkhead_available_concurrent_calls", seen.name, seen.available)
    yield _sample("bulkhead_max_allowed_concurrent_calls", seen.name, seen.max_concurrent_calls)
    yield _sample("bulkhead_waiting_calls", seen.name, seen.waiting)
    yield _sample("bulkhead_rejected_calls_total", seen.name, seen.rejected)


def _limiter(seen: LimiterSnapshot) -> Iterator[Sample]:
    yield _sample("bulkhead_thread_pool_size", seen.name, seen.busy)
    yield _sample("bulkhead_max_thread_pool_size", seen.name, seen.max_threads)
    yield _sample("bulkhead_queue_depth", seen.name, seen.queue_depth)
    yield _sample("bulkhead_queue_capacity", seen.name, seen.queue_capacity)
    yield _sample("bulkhead_rejected_calls_total", seen.name, seen.rejected)


def _retry(seen: RetrySnapshot) -> Iterator[Sample]:
    yield _sample("retry_active_calls", seen.name, seen.active)
    yield _sample("retry_retrying_calls", seen.name, seen.retrying)
    yield _sample("retry_retries_total", seen.name, seen.retried)
    yield _sample("retry_out_of_budget_total", seen.name, seen.out_of_budget)


def _rate(percent: float | None) -> float:
    return -1.0 if percent is None else percent


def _sample(name: str, owner: str, value: float, **labels: str) -> Sample:
    return Sample(f"resilience4j_{name}", {"name": owner, **labels}, float(value))
