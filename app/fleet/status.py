"""A fleet as it is right now: its supervisor's record, and what HAProxy says of the replicas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from app.fleet.errors import BalancerSilent, NotRunning
from app.fleet.housekeeping import free_bytes
from app.fleet.processes import find
from app.fleet.record import DrainRecord, FleetRecord, OperationRecord, Phase
from app.fleet.runtime import RuntimeApi, Server
from app.fleet.state import StateDirectory


class ReplicaStatus(BaseModel):
    """One replica. `state` is HAProxy's word (UP, DOWN, DRAIN, MAINT), or STOPPED while it has no process."""

    name: str
    url: str
    pid: int | None
    state: str
    in_flight: int
    queued: int
    check: str
    drained: DrainRecord | None


class ServiceStatus(BaseModel):
    """One service around the shop; `pid` is None while it has no process."""

    name: str
    url: str
    pid: int | None


class ServerStatus(BaseModel):
    """A server that the fleet runs; `url` is None where it is somebody else's business."""

    url: str | None
    pid: int | None


class HaproxyStatus(BaseModel):
    """The door."""

    pid: int | None
    socket: str
    statistics: str


class FleetStatus(BaseModel):
    """`chopho status --json`."""

    url: str
    phase: Phase
    supervisor: int | None
    operation: OperationRecord | None
    state: Path
    logs: Path
    replicas: list[ReplicaStatus]
    services: list[ServiceStatus]
    redis: ServerStatus
    database: ServerStatus
    haproxy: HaproxyStatus
    disk_free: int
    disk_low: bool


async def status_of(state: StateDirectory) -> FleetStatus:
    """What runs there; raises `NotRunning` where nothing does."""
    record = running_record(state)
    servers = await _servers(record)
    free = free_bytes(state.path)
    return FleetStatus(
        url=record.url,
        phase=record.phase,
        supervisor=record.supervisor.pid if record.supervisor and find(record.supervisor) else None,
        operation=record.operation,
        state=state.path,
        logs=state.logs,
        replicas=[_replica(name, record, servers.get(name)) for name in record.replicas()],
        services=[
            ServiceStatus(name=name, url=record.service_url(name), pid=_pid(record, name))
            for name in record.services
        ],
        redis=ServerStatus(url=record.redis_url, pid=_pid(record, "redis")),
        database=ServerStatus(url=record.database_url, pid=_pid(record, "postgres")),
        haproxy=HaproxyStatus(
            pid=_pid(record, "haproxy"), socket=record.haproxy_socket, statistics=record.statistics_url
        ),
        disk_free=free,
        disk_low=free < record.disk_reserve,
    )


def running_record(state: StateDirectory) -> FleetRecord:
    """The record of a fleet of which at least something runs; raises `NotRunning`."""
    record = FleetRecord.load(state.record)
    if record is not None:
        processes = [*record.processes.values(), *([record.supervisor] if record.supervisor else [])]
        if any(find(process) for process in processes):
            return record
    raise NotRunning(f"no fleet runs in {state.path}; `chopho up` starts one")


async def _servers(record: FleetRecord) -> Mapping[str, Server]:
    try:
        return await RuntimeApi(Path(record.haproxy_socket)).servers()
    except BalancerSilent:
        return {}


def _replica(name: str, record: FleetRecord, server: Server | None) -> ReplicaStatus:
    pid = _pid(record, name)
    return ReplicaStatus(
        name=name,
        url=f"http://127.0.0.1:{record.ports[name]}",
        pid=pid,
        state="STOPPED" if pid is None else server.state if server else "STARTING",
        in_flight=server.requests_running if server else 0,
        queued=server.requests_queued if server else 0,
        check=server.check if server else "",
        drained=record.drained.get(name),
    )


def _pid(record: FleetRecord, name: str) -> int | None:
    process = record.processes.get(name)
    return process.pid if process is not None and find(process) is not None else None
