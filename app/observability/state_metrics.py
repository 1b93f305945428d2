"""What is read when somebody asks: saturation, components, the phase. Costs a request nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from app.observability.compartments import Compartments, Row
from app.observability.health import Components


class StateMetrics:
    """A collector over the compartments, the components and the phase of the process."""

    def __init__(
        self,
        compartments: Compartments,
        components: Components,
        *,
        phase: Callable[[], str],
        phases: Sequence[str],
    ) -> None:
        self._compartments = compartments
        self._components = components
        self._phase = phase
        self._phases = phases

    def collect(self) -> Iterator[Metric]:
        """All of it, now."""
        yield from _saturation(self._compartments.rows())
        yield self._components_up()
        yield self._phase_now()

    def _components_up(self) -> Metric:
        family = GaugeMetricFamily(
            "component_up",
            "1 when the last look found it well; absent before the first.",
            labels=["component"],
        )
        for name, state in self._components.states().items():
            if state != "unknown":
                family.add_metric([name], float(state == "up"))
        return family

    def _phase_now(self) -> Metric:
        family = GaugeMetricFamily("lifecycle_phase", "1 for the phase the process is in.", labels=["phase"])
        now = self._phase()
        for phase in self._phases:
            family.add_metric([phase], float(phase == now))
        return family


def _saturation(rows: Sequence[Row]) -> Iterator[Metric]:
    size = _gauge("compartment_size", "Places in the compartment.")
    in_use = _gauge("compartment_in_use", "Places taken.")
    waiting = _gauge("compartment_waiting", "Users who wait for a place.")
    wait = _gauge("compartment_predicted_wait_seconds", "How long the next user waits, at worst.")
    holding = _gauge("compartment_holding_seconds", "How long a place is held, on average.")
    rejected = CounterMetricFamily("compartment_rejected", "Users refused.", labels=["compartment", "kind"])
    for row in rows:
        labels = [row["name"], row["kind"]]
        size.add_metric(labels, row["size"])
        in_use.add_metric(labels, row["in_use"])
        waiting.add_metric(labels, row["waiting"])
        rejected.add_metric(labels, row["rejected"])
        if row["predicted_wait_s"] is not None:
            wait.add_metric(labels, row["predicted_wait_s"])
        if row["holding_s"] is not None:
            holding.add_metric(labels, row["holding_s"])
    yield from (size, in_use, waiting, rejected, wait, holding)


def _gauge(name: str, text: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=["compartment", "kind"])
