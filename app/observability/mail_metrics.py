"""How mail gets on: attempts by what came of them, and how much waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric

from app.stores.outbox import Backlog
from app.stores.postman import MailEvent


class MailMetrics:
    """Listens to the postman; the backlog is the whole shop's, so every replica tells the same of it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "mail_attempts",
            "Attempts to send a mail; outcome: sent, postponed, given_up, expired or dropped.",
            ("kind", "outcome"),
            registry=registry,
        )
        self._registry = registry

    def __call__(self, event: MailEvent) -> None:
        """Count it."""
        self._attempts.labels(event.kind, event.outcome).inc()

    def watch(self, backlog: Callable[[], Backlog]) -> None:
        """Show what waits whenever somebody asks."""
        self._registry.register(_Backlog(backlog))


class _Backlog:
    def __init__(self, backlog: Callable[[], Backlog]) -> None:
        self._backlog = backlog

    def collect(self) -> Iterator[Metric]:
        """What was counted last."""
        seen = self._backlog()
        yield GaugeMetricFamily("mail_waiting", "Mails that wait in the outbox.", value=seen.waiting)
        yield GaugeMetricFamily(
            "mail_oldest_seconds", "Since when the oldest of them waits.", value=seen.oldest_s
        )
        yield GaugeMetricFamily("mail_given_up", "Mails that are tried no more.", value=seen.given_up)
