"""Rate, errors and duration of requests, with labels that are few whatever clients send."""

from __future__ import annotations

from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

# Pages take milliseconds, payments seconds; HAProxy gives up after 10 s.
BUCKETS_S: Final = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def bounded_method(method: str) -> str:
    """The method, or one word for all that nobody needs."""
    return method if method in _METHODS else "other"


class HttpMetrics:
    """Counts requests by method, route template and status class."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "http_requests",
            "Requests answered, by route template and status class.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._durations = Histogram(
            "http_request_duration_seconds",
            "From the request's head to the answer's last byte; event streams are left out.",
            ("method", "route"),
            buckets=BUCKETS_S,
            registry=registry,
        )
        in_flight = Gauge("http_requests_in_flight", "Requests being answered.", registry=registry)
        self._in_flight = 0
        in_flight.set_function(lambda: self._in_flight)
        # Looking a label up by its values takes longer than counting.
        self._count = cache(self._requests.labels)
        self._time = cache(self._durations.labels)

    def begun(self) -> None:
        """A request came."""
        self._in_flight += 1

    def ended(self, method: str, route: str, status: int, duration_s: float | None) -> None:
        """A request was answered; the duration is None for a stream that lasts as long as its reader."""
        self._in_flight -= 1
        self._count(method, route, f"{status // 100}xx").inc()
        if duration_s is not None:
            self._time(method, route).observe(duration_s)
