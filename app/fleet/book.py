"""The supervisor's book: the record of its fleet, written down at every change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.fleet.errors import Busy, StateUnusable
from app.fleet.events import Report, Unwritten
from app.fleet.record import DrainRecord, FleetRecord, OperationRecord, Phase, ProcessRecord


@dataclass(slots=True)
class Book:
    """What is true of the fleet now; the file says the same, or as soon as it can be written again.

    A fleet goes on with a disk that is full: whoever notes something has other work to do than to fail at that.
    """

    record: FleetRecord
    file: Path
    report: Report
    _behind: bool = field(default=False, init=False)

    def begin(self, record: FleetRecord) -> None:
        """Start over with that record; raises `StateUnusable`, as nothing runs yet that would be lost."""
        self.record = record
        self.record.save(self.file)

    def catch_up(self) -> None:
        """Write down what could not be written when it happened."""
        if self._behind:
            self._write()

    def note(self, name: str, process: ProcessRecord | None) -> None:
        """A process runs, or does not any more."""
        self.record.processes.pop(name, None)
        if process is not None:
            self.record.processes[name] = process
        self._write()

    def note_phase(self, phase: Phase) -> None:
        """The fleet has come that far."""
        self.record.phase = phase
        if phase == "stopped":
            self.record.supervisor = None
        self._write()

    def note_port(self, name: str, port: int) -> None:
        """Where a process listens."""
        self.record.ports[name] = port
        self._write()

    def note_wanted(self, replicas: int) -> None:
        """So many replicas an operator wants."""
        self.record.wanted = replicas
        self._write()

    def note_drained(self, name: str, drained: DrainRecord | None) -> None:
        """A replica is to stay out of rotation, or not any more."""
        self.record.drained.pop(name, None)
        if drained is not None:
            self.record.drained[name] = drained
        self._write()

    def note_progress(self, progress: str) -> None:
        """How far the order is."""
        if self.record.operation is not None:
            self.record.operation.progress = progress
            self._write()

    @contextmanager
    def operation(self, what: str, by: str) -> Iterator[None]:
        """One order at a time; raises `Busy` for a second."""
        other = self.record.operation
        if other is not None:
            since = other.since.astimezone().strftime("%H:%M:%S")
            raise Busy(
                f"not now: {other.by} has the fleet do this since {since}: {other.what} ({other.progress or 'begun'}); "
                "try again when it is done, `chopho status` shows it"
            )
        self.record.operation = OperationRecord(what=what, by=by, since=datetime.now(UTC))
        self._write()
        try:
            yield
        finally:
            self.record.operation = None
            self._write()

    def _write(self) -> None:
        try:
            self.record.save(self.file)
        except StateUnusable as full:
            if not self._behind:
                self.report(Unwritten("the record of the fleet", str(full)))
            self._behind = True
        else:
            self._behind = False
