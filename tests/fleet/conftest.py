"""Whole fleets of stub replicas, each supervised by a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from app.fleet.record import FleetRecord
from app.fleet.runtime import RuntimeApi, Server
from tests.conftest import free_port, wait_until

ROOT = Path(__file__).parents[2]


def chopho(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command of the CLI, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class StubFleet:
    """A fleet in a state directory; its supervisor may be started more than once."""

    def __init__(self, state: Path, *options: str) -> None:
        self.state = state
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._options = options
        self._supervisor: subprocess.Popen[bytes] | None = None
        state.mkdir(parents=True, exist_ok=True)

    @property
    def supervisor(self) -> subprocess.Popen[bytes]:
        assert self._supervisor is not None
        return self._supervisor

    @property
    def said(self) -> str:
        """All that its supervisors have said."""
        return (self.state / "said").read_text()

    def start(self, *options: str, **environment: str) -> None:
        words = [*self._options, *options]
        argv = [sys.executable, "-m", "tests.apps.stub_fleet", str(self.state), str(self.port), *words]
        with (self.state / "said").open("ab") as out:
            self._supervisor = subprocess.Popen(
                argv,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def open(self, *options: str, **environment: str) -> None:
        self.start(*options, **environment)
        wait_until(self.is_open, within_s=90, what="the fleet")

    def is_open(self) -> bool:
        if self.supervisor.poll() is not None:
            pytest.fail(f"the supervisor ended: {self.said}")
        record = self.record()
        if record is None or record.supervisor is None:
            return False
        return record.phase == "running" and record.supervisor.pid == self.supervisor.pid

    def record(self) -> FleetRecord | None:
        return FleetRecord.load(self.state / "fleet.json")

    def pid(self, name: str) -> int:
        record = self.record()
        assert record is not None
        return record.processes[name].pid

    def replica_url(self, name: str) -> str:
        record = self.record()
        assert record is not None
        return f"http://127.0.0.1:{record.ports[name]}"

    @property
    def runtime(self) -> RuntimeApi:
        record = self.record()
        assert record is not None
        return RuntimeApi(Path(record.haproxy_socket))

    def servers(self) -> dict[str, Server]:
        return dict(asyncio.run(self.runtime.servers()))

    def states(self) -> dict[str, str]:
        return {name: server.state for name, server in self.servers().items()}

    def wait_until_all_up(self) -> None:
        wait_until(lambda: set(self.states().values()) == {"UP"}, within_s=60, what="every replica")

    def log(self, name: str) -> str:
        return (self.state / "logs" / f"{name}.log").read_text()

    def log_once_it_has(self, words: str) -> str:
        """The balancer's log: it writes a line only after the answer has left."""
        wait_until(lambda: words in self.log("haproxy"), what=f"a line of the log with {words}")
        return self.log("haproxy")

    def pids(self) -> list[int]:
        record = self.record()
        return [process.pid for process in record.processes.values()] if record else []

    def down(self) -> None:
        """As its operator would."""
        ended = chopho("down", "--state", str(self.state))
        assert ended.returncode == 0, ended.stderr
        self.supervisor.wait(timeout=10)

    def end(self) -> None:
        """Whatever the test left of it."""
        ended = chopho("down", "--state", str(self.state))
        if self._supervisor is not None and self._supervisor.poll() is None:
            self._supervisor.terminate()
            self._supervisor.wait(timeout=60)
        assert ended.returncode == 0, ended.stderr


MakeFleet = Callable[..., StubFleet]


@pytest.fixture
def make_fleet(tmp_path: Path) -> Iterator[MakeFleet]:
    """Fleets of this test alone, ended with it."""
    with ExitStack() as ends:

        def make(name: str = "state", *options: str) -> StubFleet:
            fleet = StubFleet(tmp_path / name, *options)
            ends.callback(fleet.end)
            return fleet

        yield make


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StubFleet]:
    """One fleet of two replicas for a module, all of it in rotation."""
    fleet = StubFleet(tmp_path_factory.mktemp("fleet") / "state")
    try:
        fleet.open()
        yield fleet
    finally:
        fleet.end()


@pytest.fixture
def whole_fleet(fleet: StubFleet) -> StubFleet:
    """The module's fleet, after what an earlier test did to it has healed."""
    fleet.wait_until_all_up()
    return fleet


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def headers_that_arrived(fleet: StubFleet, headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """What a replica sees of a request with those headers."""
    pairs: list[list[str]] = httpx.get(f"{fleet.url}/headers", headers=list(headers)).json()
    return [(name, value) for name, value in pairs]


def as_json(text: str) -> Any:
    return json.loads(text)


@pytest.fixture(scope="package")
def shop_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The whole shop as `make up` brings it up, two replicas of it; what `chopho status --json` says."""
    state, port = tmp_path_factory.mktemp("shop"), free_port()
    words = ("--replicas", "2", "--port", str(port), "--state", str(state), "--detach")
    up = chopho("up", *words)
    assert up.returncode == 0, up.stderr
    try:
        yield json.loads(chopho("status", "--json", "--state", str(state)).stdout)
    finally:
        down = chopho("down", "--state", str(state))
        assert down.returncode == 0, down.stderr
