"""What runs in a state directory, written down so that it outlives its supervisor."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from app.fleet.errors import StateUnusable
from app.fleet.state import write_privately

Phase = Literal["starting", "running", "stopping", "stopped"]


class ProcessRecord(BaseModel):
    """One process: pid and start time together name it beyond doubt, the digest says what it was told.

    `boot` names this run of the machine and `began` are seconds from its boot: both are what they were when somebody
    has set the clock, which `started` is not. Where the machine does not name its runs, `started` decides.
    """

    pid: int
    started: float
    boot: str = ""
    began: float = 0.0
    digest: str = ""
    port: int | None = None
    stop_signal: int = 15
    stop_timeout_s: float = 10


class DrainRecord(BaseModel):
    """Who took a replica out of rotation, when and why; it stays out until somebody wants it back."""

    by: str
    reason: str
    at: datetime


class OperationRecord(BaseModel):
    """What an operator has the supervisor do right now."""

    what: str
    by: str
    since: datetime
    progress: str = ""


class FleetRecord(BaseModel):
    """The supervisor's word about its fleet; it alone writes it."""

    phase: Phase = "starting"
    supervisor: ProcessRecord | None = None
    url: str = ""
    haproxy_socket: str = ""
    statistics_url: str = ""
    redis_url: str | None = None
    database_url: str = ""
    services: list[str] = []
    session_url: str = ""
    session_also_accept: str | None = None
    ports: dict[str, int] = {}
    processes: dict[str, ProcessRecord] = {}
    wanted: int = 0
    disk_reserve: int = 0
    drained: dict[str, DrainRecord] = {}
    operation: OperationRecord | None = None

    @classmethod
    def load(cls, file: Path) -> FleetRecord | None:
        """The record, or None where there never was a fleet; raises `StateUnusable`."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise StateUnusable(
                f"{file} is damaged; end what it named by hand and remove it to start afresh"
            ) from error

    def save(self, file: Path) -> None:
        """Replace the file."""
        write_privately(file, self.model_dump_json(indent=1))

    def service_url(self, name: str) -> str:
        """Where a service of the fleet is."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def replicas(self) -> list[str]:
        """The names of the replicas, in order."""
        return sorted((name for name in self.processes if is_replica(name)), key=number_of)


def is_replica(name: str) -> bool:
    """Replicas are app1, app2, …, as their slots in haproxy.cfg are called."""
    return name.startswith("app") and name[3:].isdecimal()


def number_of(name: str) -> int:
    """Its place in the order of the slots."""
    return int(name[3:])
