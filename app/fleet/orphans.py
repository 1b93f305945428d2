"""What a supervisor that was killed has left running."""

from __future__ import annotations

import time
from collections.abc import Set as AbstractSet
from datetime import timedelta
from pathlib import Path
from typing import Final

from app.fleet.events import Report, Stopped
from app.fleet.processes import Process, find
from app.fleet.record import FleetRecord, is_replica
from app.fleet.rotation import Rotation
from app.fleet.runtime import RuntimeApi

_LAST: Final = ("haproxy", "redis", "postgres")


async def end_orphans(record: FleetRecord, report: Report, *, keep: AbstractSet[str] = frozenset()) -> None:
    """End every recorded process that still runs and is not to be kept: replicas, the door, then the data."""
    rotation = Rotation(RuntimeApi(Path(record.haproxy_socket)))
    for name in sorted(record.processes, key=_turn):
        process = find(record.processes[name])
        if process is not None and name not in keep:
            began = time.monotonic()
            by_itself = await _end(name, process, rotation)
            report(Stopped(name, time.monotonic() - began, killed=not by_itself))


async def _end(name: str, process: Process, rotation: Rotation) -> bool:
    if not is_replica(name):
        return await process.stop()
    await rotation.drain(name, within=timedelta(seconds=process.record.stop_timeout_s))
    by_itself = await process.stop()
    await rotation.leave(name)
    return by_itself


def _turn(name: str) -> int:
    """Replicas and services first, then what they lean on."""
    return _LAST.index(name) + 1 if name in _LAST else 0
