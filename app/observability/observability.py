"""Everything a replica shows of itself, put together without I/O."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from starlette.applications import Starlette

from app.observability.background import in_background
from app.observability.compartments import Compartments
from app.observability.degradation import Degradations
from app.observability.health import Components
from app.observability.http_metrics import HttpMetrics
from app.observability.internal import Internal
from app.observability.loop import LoopWatch
from app.observability.requests import RequestLog
from app.observability.resilience import ResilienceWatch
from app.observability.session_metrics import SessionMetrics, measured
from app.observability.sources import log_queue
from app.observability.state_metrics import StateMetrics
from app.observability.writer import LineWriter
from app.sessions import Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservabilityConfig:
    """`phase` tells the phase of the process now, `phases` are all there are."""

    replica: str
    phase: Callable[[], str]
    phases: Sequence[str]


class Observability:
    """Logs, metrics, health and compartments of one replica.

    Whoever builds the parts tells it of them: `resilience` listens to breakers, bulkheads and limiters,
    `degradations` to what pages lack, `compartments` takes every finite resource, `components` every check,
    `measured` watches the sessions.
    Then `install` puts it around the application, and `running` belongs into its lifespan.
    """

    def __init__(self, config: ObservabilityConfig, *, writer: LineWriter | None = None) -> None:
        # Or each counter would bring a series that says when it began.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left it untyped
        self.config = config
        self.registry = CollectorRegistry()
        self.compartments = Compartments()
        self.components = Components()
        self.resilience = ResilienceWatch(self.registry)
        self.degradations = Degradations(self.registry)
        self._writer = writer
        self._http = HttpMetrics(self.registry)
        self._sessions = SessionMetrics(self.registry)
        self._loop = LoopWatch(self.registry)
        self._collect()
        self.compartments.add(self._loop.compartment())
        if writer is not None:
            self.compartments.add(log_queue(writer))

    def measured(self, sessions: Sessions) -> Sessions:
        """The sessions, with their operations counted and their users told to the log."""
        self.compartments.add(self._sessions.compartment(sessions))
        return measured(sessions, self._sessions)

    def install(self, app: Starlette) -> None:
        """Put the request log around what was added so far, and the operator's own paths outside that."""
        app.add_middleware(RequestLog, metrics=self._http, writer=self._writer, replica=self.config.replica)
        app.add_middleware(
            Internal,
            registry=self.registry,
            components=self.components,
            compartments=self.compartments,
            replica=self.config.replica,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch the loop and look at the components until the block ends."""
        async with in_background(self._loop.run(), self.components.run()):
            yield

    def _collect(self) -> None:
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.registry.register(
            StateMetrics(
                self.compartments, self.components, phase=self.config.phase, phases=self.config.phases
            )
        )
