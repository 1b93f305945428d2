"""Processes that outlive their supervisor's mistakes: born here, or found by pid and start time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Final

import psutil

from app.fleet.errors import CannotStart
from app.fleet.haproxy import ROOT
from app.fleet.record import ProcessRecord

# A pid is not given out again within so short a time, and a clock that is set moves start times a little.
_SAME_START_S: Final = 2.0
_LOOK_EVERY_S: Final = 0.05
_LAST_WORDS_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how it is asked to stop."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout: timedelta = timedelta(seconds=10)

    @property
    def digest(self) -> str:
        """Two commands with one digest are told the same."""
        told = json.dumps([list(self.argv), sorted(self.environment.items())])
        return hashlib.sha256(told.encode()).hexdigest()


class Process:
    """One process; it need not be our child."""

    def __init__(self, process: psutil.Process | psutil.Popen, record: ProcessRecord) -> None:
        self._process = process
        self.record = record

    @property
    def pid(self) -> int:
        """Its number."""
        return self.record.pid

    def is_running(self) -> bool:
        """Whether it still runs; a zombie does not."""
        if isinstance(self._process, psutil.Popen):
            return self._process.poll() is None
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    async def ended(self) -> None:
        """Return once it has ended."""
        while self.is_running():  # noqa: ASYNC110 -- the kernel tells only parents, and we may not be one
            await asyncio.sleep(_LOOK_EVERY_S)

    def succeeded(self) -> bool:
        """Whether it ended with exit code 0, as far as we are told."""
        return isinstance(self._process, psutil.Popen) and self._process.poll() == 0

    def verdict(self) -> str:
        """How it ended, in words; of somebody else's child the kernel tells nobody."""
        code = self._process.poll() if isinstance(self._process, psutil.Popen) else None
        if code is None:
            return "ended"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"

    def signal(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        if self.is_running():
            self._process.send_signal(number)

    async def abort(self) -> None:
        """Let it say where it stands, if it still can, and end it."""
        self.signal(signal.SIGABRT)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.ended(), _LAST_WORDS_S)
        self.signal(signal.SIGKILL)
        await self.ended()

    async def stop(self) -> bool:
        """Ask it to stop, wait its time, then end it; whether it went by itself."""
        self.signal(self.record.stop_signal)
        try:
            await asyncio.wait_for(self.ended(), self.record.stop_timeout_s)
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self.ended()
            return False
        return True


def launch(command: Command, log: Path) -> Process:
    """Start it in a session of its own, with our environment and its own on top, its words in `log`.

    It writes to the file itself, so that it can go on speaking when its supervisor is gone.
    """
    try:
        with log.open("ab") as out:
            process = psutil.Popen(
                list(command.argv),
                env={**os.environ, **command.environment},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
    except OSError as error:
        raise CannotStart(f"{command.name} cannot start: {command.argv[0]}: {error.strerror}") from error
    return Process(process, _record(command, process))


def find(record: ProcessRecord) -> Process | None:
    """The process of that record, if it is the same one and still runs."""
    try:
        process = psutil.Process(record.pid)
        if not _is_the_one(process, record):
            return None
    except psutil.NoSuchProcess:
        return None
    found = Process(process, record)
    return found if found.is_running() else None


def myself() -> ProcessRecord:
    """The record of this process."""
    process = psutil.Process()
    return ProcessRecord(pid=process.pid, started=process.create_time(), boot=_boot(), began=_began(process))


def _is_the_one(process: psutil.Process, record: ProcessRecord) -> bool:
    if record.boot:
        return record.boot == _boot() and abs(_began(process) - record.began) <= _SAME_START_S
    return abs(process.create_time() - record.started) <= _SAME_START_S


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _began(process: psutil.Process) -> float:
    return float(process.create_time() - psutil.boot_time())  # both move when the clock is set


def _record(command: Command, process: psutil.Process) -> ProcessRecord:
    return ProcessRecord(
        pid=process.pid,
        started=process.create_time(),
        boot=_boot(),
        began=_began(process),
        digest=command.digest,
        port=command.port,
        stop_signal=command.stop_signal,
        stop_timeout_s=command.stop_timeout.total_seconds(),
    )
