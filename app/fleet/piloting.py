"""The autopilot of a fleet, connected to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.fleet.autopilot import Autopilot, Instruments
from app.fleet.book import Book
from app.fleet.events import Report
from app.fleet.load import CpuMeter
from app.fleet.operations import Operations
from app.fleet.orders import Request, Scale
from app.fleet.plan import Plan
from app.fleet.replicas import Replicas
from app.planning.scaling import Decision

_NAME = "the autopilot"


def autopilot(
    file: Path, book: Book, replicas: Replicas, operations: Operations, report: Report
) -> Autopilot:
    """It scales as an operator would, and says why."""

    async def scale(decision: Decision) -> None:
        order = Scale(replicas=decision.replicas, why=decision.why)
        await operations.carry_out(Request(by=_NAME, order=order))

    return Autopilot(
        Instruments(
            plan=partial(Plan.load, file),
            wanted=lambda: book.record.wanted,
            replicas=lambda: len(replicas.names),
            cpu_percent=CpuMeter(_pids(book, replicas)).read,
            scale=scale,
            report=report,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
        )
    )


def _pids(book: Book, replicas: Replicas) -> Callable[[], list[int]]:
    def pids() -> list[int]:
        known = book.record.processes
        return [known[name].pid for name in replicas.names if name in known]

    return pids
