"""What a fleet makes of Ctrl-C, of a terminal that closes, and of being left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from tests.conftest import free_port, listening, wait_until
from tests.fleet.conftest import ROOT, MakeFleet, StubFleet, as_json, chopho, is_running

pytestmark = pytest.mark.fleet


class Asked:
    """A request under way."""

    def __init__(self, fleet: StubFleet, seconds: float) -> None:
        self._url = f"{fleet.url}/slow?s={seconds}"
        self.outcome: int | str | None = None
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()
        wait_until(lambda: sum(slot.requests_running for slot in fleet.servers().values()) == 1)

    def _ask(self) -> None:
        try:
            self.outcome = httpx.post(self._url, timeout=60).status_code
        except httpx.HTTPError as error:
            self.outcome = repr(error)

    def over(self) -> int | str | None:
        self._thread.join()
        return self.outcome


def test_ctrl_c_lets_what_is_in_flight_finish(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.open()
    asked = Asked(fleet, 3)
    fleet.supervisor.send_signal(signal.SIGINT)
    assert asked.over() == 200
    assert fleet.supervisor.wait(timeout=30) == 0
    assert not listening(fleet.port)


def test_a_second_ctrl_c_does_not_wait(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.open()
    asked = Asked(fleet, 9)
    pids = fleet.pids()
    fleet.supervisor.send_signal(signal.SIGINT)
    wait_until(lambda: "DRAIN" in fleet.states().values())
    fleet.supervisor.send_signal(signal.SIGINT)
    assert fleet.supervisor.wait(timeout=30) == 0
    assert asked.over() != 200
    assert not any(is_running(pid) for pid in pids)


def test_ctrl_c_while_it_starts_leaves_nothing(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.start()
    wait_until(lambda: bool(fleet.pids()), what="a first process")
    fleet.supervisor.send_signal(signal.SIGINT)
    assert fleet.supervisor.wait(timeout=60) == 0
    record = fleet.record()
    assert record is not None
    assert (record.phase, record.processes) == ("stopped", {})
    assert not listening(fleet.port)


def test_a_fleet_outlives_its_terminal(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.open("--replicas", "1")
    fleet.supervisor.send_signal(signal.SIGHUP)
    killed = fleet.pid("app1")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: fleet.pid("app1") != killed, what="another app1")
    fleet.wait_until_all_up()


def test_a_detached_fleet_holds_nothing_of_its_caller(tmp_path: Path) -> None:
    """The whole shop: every replica is up when the command returns, and no descriptor is kept open."""
    state, port = tmp_path / "state", free_port()
    read, write = os.pipe()
    up = [
        sys.executable,
        "-m",
        "app",
        "up",
        "--detach",
        "--replicas",
        "1",
        "--state",
        str(state),
        "--port",
        str(port),
    ]
    try:
        # Output and error are pipes too: reading them to their end returns only when nobody holds them.
        left = subprocess.run(
            up, cwd=ROOT, pass_fds=[write], capture_output=True, text=True, timeout=170, check=False
        )
        os.close(write)
        assert (left.returncode, left.stderr) == (0, "")
        assert os.read(read, 1) == b""
        assert f"Chợ Phố is open: http://127.0.0.1:{port}" in left.stdout
        status = as_json(chopho("status", "--json", "--state", str(state)).stdout)
        assert [replica["state"] for replica in status["replicas"]] == ["UP"]
        assert os.getsid(status["supervisor"]) == status["supervisor"]
        assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 200
    finally:
        os.close(read)
        assert chopho("down", "--state", str(state)).returncode == 0


def test_logs_are_shown_by_name_and_together(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.open("--replicas", "1")
    state = ("--state", str(fleet.state))
    together = chopho("logs", "-n", "2", *state)
    assert {line.split("│")[0].strip() for line in together.stdout.splitlines()} == {
        "app1",
        "haproxy",
        "redis",
    }
    alone = chopho("logs", "app1", "-n", "1", *state)
    assert (alone.returncode, len(alone.stdout.splitlines())) == (0, 1)
    missing = chopho("logs", "app7", *state)
    assert (missing.returncode, missing.stderr.count("\n")) == (6, 1)
    assert "there are: app1, haproxy, redis" in missing.stderr


def test_logs_are_followed(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    fleet.open("--replicas", "1")
    words = [
        sys.executable,
        "-m",
        "app",
        "logs",
        "haproxy",
        "-n",
        "0",
        "--follow",
        "--state",
        str(fleet.state),
    ]
    seen = fleet.state / "seen"
    with (
        seen.open("wb") as out,
        # Whoever runs the tests in the background has them ignore Ctrl-C, and so what they start.
        subprocess.Popen(
            words,
            cwd=ROOT,
            stdout=out,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as following,
    ):

        def seen_by_now() -> bool:
            httpx.get(f"{fleet.url}/?followed")
            return 'GET "/"' in seen.read_text()

        wait_until(seen_by_now, what="the line of a request")
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=10) == 130
