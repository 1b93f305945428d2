"""What a fleet does for its own place: logs stay bounded, a disk that fills up is told in time."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.fleet.errors import StateUnusable
from app.fleet.events import DiskLow, DiskWell, Report, Unwritten
from app.fleet.logs import bound
from app.fleet.state import StateDirectory, write_privately

_LOOK_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseRules:
    """How large a log grows, how many older ones stay, and how much of the disk must be free."""

    log_size: int = 10 * 1024 * 1024
    logs_kept: int = 1
    disk_reserve: int = 512 * 1024 * 1024


class Housekeeping:
    """Looks every ten seconds; tells of a change once."""

    def __init__(self, state: StateDirectory, rules: HouseRules, report: Report) -> None:
        self._state = state
        self._rules = rules
        self._report = report
        self._low = False
        self._trouble = ""

    async def run(self, catch_up: Callable[[], None]) -> None:
        """Until cancelled; what could not be written before is tried again each time."""
        while True:
            await asyncio.to_thread(self.look)
            catch_up()
            await asyncio.sleep(_LOOK_EVERY_S)

    def look(self) -> None:
        """Rotate what has grown, and see how much room is left."""
        unbounded = self._bound_logs()
        free = free_bytes(self._state.path)
        low = free < self._rules.disk_reserve
        if low != self._low:
            self._low = low
            self._report(DiskLow("disk", free, self._rules.disk_reserve) if low else DiskWell("disk", free))
        trouble = unbounded or self._published(free)
        if trouble and trouble != self._trouble:
            self._report(Unwritten("what the house keeps", trouble))
        self._trouble = trouble

    def _bound_logs(self) -> str:
        """Why it could not be done, or nothing."""
        try:
            bound(self._state.logs, self._rules.log_size, keep=self._rules.logs_kept)
        except OSError as full:
            return f"logs cannot be put aside: {full.strerror}"
        return ""

    def _published(self, free: int) -> str:
        """For the textfile collector of Prometheus's node exporter; why it could not be done, or nothing."""
        lines = [
            "# HELP chopho_disk_free_bytes Room where the fleet keeps its state.",
            "# TYPE chopho_disk_free_bytes gauge",
            f"chopho_disk_free_bytes {free}",
            "# HELP chopho_disk_reserve_bytes Less room than this is told.",
            "# TYPE chopho_disk_reserve_bytes gauge",
            f"chopho_disk_reserve_bytes {self._rules.disk_reserve}",
        ]
        try:
            write_privately(self._state.metrics, "\n".join(lines) + "\n")
        except StateUnusable as full:
            return str(full)
        return ""


def free_bytes(path: Path) -> int:
    """Room for those who are not root."""
    return shutil.disk_usage(path).free
