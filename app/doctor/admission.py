"""Who is examined: the fleet of a state directory, a file of variables, or this environment."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from app.doctor.balancer import Balancer, Unreadable
from app.doctor.subject import Subject
from app.fleet.errors import FleetError
from app.fleet.haproxy import ROOT
from app.fleet.processes import find
from app.fleet.record import FleetRecord, ProcessRecord
from app.fleet.state import StateDirectory
from app.fleet.status import running_record
from app.settings import PREFIX, Settings, read

_CONFIGURATION: Final = "configuration"
_REPLICAS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What the operator named; None where nothing was said."""

    state: StateDirectory
    env: Path | None = None
    haproxy: Path | None = None
    socket: Path | None = None
    replicas: int | None = None
    addresses: Sequence[str] = ()
    stop_timeout_s: float | None = None


def admit(patient: Patient, environment: Mapping[str, str]) -> Subject:
    """What is to be examined; raises `FleetError` and `SettingsError` in one sentence."""
    if patient.env is not None:
        return _configured(patient, variables(patient.env))
    if environment.get(f"{PREFIX}SESSION_URL"):
        return _configured(patient, environment)
    if patient.addresses or patient.stop_timeout_s is not None:
        raise FleetError(
            "--replica and --stop-timeout describe a configuration: name it with --env; "
            "a local fleet is known without them"
        )
    return _running(patient, running_record(patient.state))


def variables(file: Path) -> Mapping[str, str]:
    """The variables of a file of NAME=value lines, as systemd and compose read them; raises `FleetError`."""
    try:
        lines = [shlex.split(line, comments=True) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise FleetError(f"cannot read {file} as NAME=value lines: {error}") from error
    words = [word for line in lines for word in line if word != "export"]
    unread = next((word for word in words if "=" not in word), None)
    if unread is not None:
        raise FleetError(f"{file} has {unread!r} where NAME=value is expected")
    return dict(word.split("=", 1) for word in words)


def _configured(patient: Patient, environment: Mapping[str, str]) -> Subject:
    addresses = {address: address.rstrip("/") for address in patient.addresses}
    return Subject(
        settings={_CONFIGURATION: read(Settings, environment)},
        replicas=patient.replicas or len(addresses) or _REPLICAS,
        addresses=addresses,
        balancer=_balancer(patient.haproxy, environment),
        socket=patient.socket,
        stop_timeout_s=patient.stop_timeout_s,
    )


def _running(patient: Patient, record: FleetRecord) -> Subject:
    replicas = {name: record.processes[name] for name in record.replicas()}
    settings = {
        name: read(Settings, told) for name, process in replicas.items() if (told := _environment(process))
    }
    if not settings:
        raise FleetError(f"no replica runs in {patient.state.path}; see `chopho status`")
    haproxy = record.processes.get("haproxy")
    return Subject(
        settings=settings,
        replicas=patient.replicas or len(replicas),
        addresses={name: f"http://127.0.0.1:{record.ports[name]}" for name in settings},
        balancer=_balancer(patient.haproxy, _environment(haproxy) if haproxy else {}),
        socket=patient.socket or Path(record.haproxy_socket),
        stop_timeout_s=min(_stop_timeout_s(replicas[name], told) for name, told in settings.items()),
    )


def _stop_timeout_s(process: ProcessRecord, settings: Settings) -> float:
    """A fleet that drains in the balancer first (SIGQUIT) spends no drain delay of the replica's own."""
    drained = process.stop_signal == signal.SIGQUIT
    return process.stop_timeout_s + (settings.drain_delay.total_seconds() if drained else 0)


def _environment(process: ProcessRecord) -> Mapping[str, str]:
    """What a running process was told; empty where it is gone or not ours to ask."""
    try:
        return psutil.Process(process.pid).environ() if find(process) is not None else {}
    except psutil.Error:
        return {}


def _balancer(file: Path | None, environment: Mapping[str, str]) -> Balancer:
    file = file or ROOT / "haproxy.cfg"
    try:
        return Balancer.read(file, environment)
    except (OSError, Unreadable) as error:
        raise FleetError(f"cannot read {file} as a configuration of HAProxy: {error}") from error
