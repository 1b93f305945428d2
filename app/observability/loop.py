"""Watching the event loop: the one resource that everything in the process shares."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, Histogram

from app.observability.compartments import Compartment, Usage

_PERIOD_S: Final = 0.25
_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class LoopWatch:
    """Wakes four times a second and sees how late it is, and how busy its thread was."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._busy = 0.0
        self._lag = Histogram(
            "event_loop_lag_seconds",
            "How late a timer of the event loop fires; everybody waits that long.",
            buckets=_BUCKETS_S,
            registry=registry,
        )
        busy = Gauge(
            "event_loop_busy_ratio",
            "Share of the last quarter second in which the loop's thread computed.",
            registry=registry,
        )
        busy.set_function(lambda: self._busy)

    async def run(self) -> None:
        """Watch until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began, computed = loop.time(), time.thread_time()
            await asyncio.sleep(_PERIOD_S)
            passed = loop.time() - began
            self._lag.observe(max(0.0, passed - _PERIOD_S))
            self._busy = min(1.0, (time.thread_time() - computed) / passed)

    def compartment(self) -> Compartment:
        """The loop as a compartment of one place."""
        return Compartment(
            name="event loop",
            kind="loop",
            size=1,
            shared_by=("everything in this process",),
            dies="every request of this replica, until the watchdog ends the process",
            usage=lambda: Usage(in_use=self._busy),
        )
