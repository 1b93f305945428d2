"""Listening to the breakers, bulkheads and limiters: resilience4j's metrics, log lines, compartments."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Protocol, TypeAlias

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from app.observability.compartments import Compartment, Usage
from app.observability.meter import Meter
from app.resilience import Breaker, Bulkhead, Event, Limiter
from app.resilience.events import (
    CallFinished,
    CallPermitted,
    CallRejected,
    Error,
    FailureRateExceeded,
    IgnoredError,
    Reset,
    SlowCallRateExceeded,
    StateTransition,
    Success,
)
from app.resilience.metrics import METRICS, Sample, Snapshot, samples

_log = logging.getLogger(__name__)

_KINDS: Final[dict[type[Event], str]] = {Success: "successful", Error: "failed", IgnoredError: "ignored"}
_OUTCOMES: Final = (Success, Error, IgnoredError)
_EVENTS: Final = {
    "Success": "success",
    "Error": "error",
    "IgnoredError": "ignored_error",
    "CallNotPermitted": "not_permitted",
    "StateTransition": "state_transition",
    "Reset": "reset",
    "FailureRateExceeded": "failure_rate_exceeded",
    "SlowCallRateExceeded": "slow_call_rate_exceeded",
    "CallPermitted": "permitted",
    "CallRejected": "rejected",
    "CallFinished": "finished",
    "Retried": "retry",
}


class Watchable(Protocol):
    """A breaker, a bulkhead, a limiter or a retry."""

    name: str

    def snapshot(self) -> Snapshot:
        """Everything there is to see."""


class ResilienceWatch:
    """One listener for all of them: ``Breaker(…, listeners=[watch])``, then ``watch.add(breaker)``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._watched: list[Watchable] = []
        self._meters: dict[str, Meter] = defaultdict(Meter)
        durations = Histogram(
            "resilience4j_circuitbreaker_calls_seconds",
            "Duration of guarded calls by outcome.",
            ("name", "kind"),
            registry=registry,
        )
        self._time = cache(durations.labels)
        # Three events a call: a metric of the library's takes its lock and checks its labels each time.
        self._events: Counter[tuple[str, type[Event]]] = Counter()
        registry.register(self)

    def __call__(self, event: Event) -> None:
        """Count the event, and log it if an operator would want to know."""
        kind = type(event)
        self._events[event.name, kind] += 1
        if kind is CallPermitted:
            self._meters[event.name].take()
        elif kind is CallFinished:
            self._meters[event.name].give()
        elif isinstance(event, _OUTCOMES):
            self._time(event.name, _KINDS[kind]).observe(event.duration_s)
        elif not isinstance(event, CallRejected):
            _tell(event)

    def add(self, *watched: Watchable) -> None:
        """Show them in the metrics."""
        self._watched.extend(watched)

    def breakers(self) -> Sequence[Breaker]:
        """The breakers among them."""
        return [one for one in self._watched if isinstance(one, Breaker)]

    def slots(self, bulkhead: Bulkhead, *, shared_by: Sequence[str], dies: str) -> Compartment:
        """A bulkhead as a compartment."""
        meter = self._meters[bulkhead.name]

        def usage() -> Usage:
            seen, held = bulkhead.snapshot(), meter.holding()
            return Usage(
                in_use=seen.in_use,
                waiting=seen.waiting,
                rejected=seen.rejected,
                holding_s=held.mean_s,
                rate_per_s=held.rate_per_s,
            )

        size = bulkhead.config.max_concurrent_calls
        return Compartment(
            name=bulkhead.name, kind="slots", size=size, shared_by=tuple(shared_by), dies=dies, usage=usage
        )

    def threads(self, limiter: Limiter, *, shared_by: Sequence[str], dies: str) -> Compartment:
        """A thread limiter as a compartment."""
        meter = self._meters[limiter.name]

        def usage() -> Usage:
            seen, held = limiter.snapshot(), meter.holding()
            return Usage(
                in_use=seen.busy,
                waiting=seen.queue_depth,
                rejected=seen.rejected,
                holding_s=held.mean_s,
                rate_per_s=held.rate_per_s,
            )

        size = limiter.config.max_threads
        return Compartment(
            name=limiter.name, kind="limiter", size=size, shared_by=tuple(shared_by), dies=dies, usage=usage
        )

    def collect(self) -> Iterator[Metric]:
        """The samples of every snapshot, under resilience4j's names, and what was told."""
        yield self._told()
        yield from _families([sample for one in self._watched for sample in samples(one.snapshot())])

    def _told(self) -> Metric:
        told = CounterMetricFamily(
            "resilience4j_events",
            "What breakers, bulkheads, limiters and retries told.",
            labels=("name", "event"),
        )
        for (name, kind), count in self._events.copy().items():
            told.add_metric([name, _EVENTS.get(kind.__name__, "other")], count)
        return told


_Family: TypeAlias = CounterMetricFamily | GaugeMetricFamily


def _families(found: Iterable[Sample]) -> Iterator[Metric]:
    by_name: dict[str, list[Sample]] = defaultdict(list)
    for sample in found:
        by_name[sample.name].append(sample)
    for metric in METRICS:
        if metric.kind == "histogram" or metric.name not in by_name:
            continue
        make = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
        family: _Family = make(metric.name, metric.help, labels=metric.labels)
        for sample in by_name[metric.name]:
            family.add_metric([sample.labels[label] for label in metric.labels], sample.value)
        yield family


def _tell(event: Event) -> None:
    match event:
        case StateTransition(name=name, before=before, after=after):
            fields = {"breaker": name, "before": before, "after": after}
            _log.warning("breaker %s went from %s to %s", name, before, after, extra={"fields": fields})
        case FailureRateExceeded(name=name, rate=rate) | SlowCallRateExceeded(name=name, rate=rate):
            words = "failed" if isinstance(event, FailureRateExceeded) else "were slow"
            fields_ = {"breaker": name, "rate": rate}
            _log.warning("%.0f %% of the calls to %s %s", rate, name, words, extra={"fields": fields_})
        case Reset(name=name):
            _log.warning("breaker %s was reset", name, extra={"fields": {"breaker": name}})
        case _:
            pass
