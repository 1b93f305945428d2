from __future__ import annotations

from app.resilience import Bulkhead, Limiter, Retry, State
from app.resilience.metrics import METRICS, Sample, Snapshot, samples

from .conftest import Bench


def values(found: list[Sample], name: str) -> dict[str, float]:
    return {
        sample.labels.get("kind", sample.labels.get("state", "")): sample.value
        for sample in found
        if sample.name == f"resilience4j_{name}"
    }


def test_a_breaker_shows_its_state_calls_and_rates(bench: Bench) -> None:
    breaker = bench.breaker(minimum_number_of_calls=3)
    assert values(list(samples(breaker.snapshot())), "circuitbreaker_failure_rate") == {"": -1}
    breaker.settle(breaker.admit(), "successful")
    for verdict in ("successful", "failed"):
        ticket = breaker.admit()
        bench.clock.sleep(5)
        breaker.settle(ticket, verdict)
    found = list(samples(breaker.snapshot()))
    assert values(found, "circuitbreaker_state") == {state.lower(): state is State.CLOSED for state in State}
    assert values(found, "circuitbreaker_calls_total") == {"successful": 2, "failed": 1, "ignored": 0}
    assert values(found, "circuitbreaker_not_permitted_calls_total") == {"not_permitted": 0}
    assert values(found, "circuitbreaker_buffered_calls") == {"successful": 2, "failed": 1}
    assert values(found, "circuitbreaker_slow_calls") == {"successful": 1, "failed": 1}
    assert round(values(found, "circuitbreaker_failure_rate")[""], 1) == 33.3
    assert round(values(found, "circuitbreaker_slow_call_rate")[""], 1) == 66.7


async def test_every_sample_has_a_name_and_the_labels_that_are_declared(bench: Bench) -> None:
    snapshots: list[Snapshot] = [
        bench.breaker().snapshot(),
        Bulkhead("x").snapshot(),
        Limiter("x").snapshot(),
        Retry("x").snapshot(),
    ]
    declared = {metric.name: metric.labels for metric in METRICS}
    found = [sample for snapshot in snapshots for sample in samples(snapshot)]
    for sample in found:
        assert tuple(sample.labels) == declared[sample.name]
    histograms = {metric.name for metric in METRICS if metric.kind == "histogram"}
    assert {sample.name for sample in found} == declared.keys() - histograms


async def test_saturation_is_what_is_used_of_what_there_is() -> None:
    slots = Bulkhead("reviews")
    async with slots.take():
        found = list(samples(slots.snapshot()))
    assert values(found, "bulkhead_available_concurrent_calls") == {"": 24}
    assert values(found, "bulkhead_max_allowed_concurrent_calls") == {"": 25}
