"""A fleet comes up, says what it is, survives its supervisor, and goes without a trace."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from app.fleet.errors import FleetError
from app.fleet.state import StateDirectory
from app.fleet.topology import FleetOptions
from tests.conftest import free_port, listening, wait_until
from tests.fleet.conftest import ROOT, MakeFleet, StubFleet, as_json, chopho, is_running
from tests.fleet.load import Load

pytestmark = pytest.mark.fleet


def test_a_fleet_comes_up_in_an_empty_place_and_goes_without_a_trace(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("an empty/place", "--with-postgres")
    fleet.open()
    status = as_json(chopho("status", "--json", "--state", str(fleet.state)).stdout)
    record = fleet.record()
    assert record is not None
    assert status == {
        "url": fleet.url,
        "phase": "running",
        "supervisor": fleet.supervisor.pid,
        "operation": None,
        "state": str(fleet.state),
        "logs": str(fleet.state / "logs"),
        "replicas": [
            {
                "name": name,
                "url": f"http://127.0.0.1:{record.ports[name]}",
                "pid": fleet.pid(name),
                "state": "UP",
                "in_flight": 0,
                "queued": 0,
                "check": status["replicas"][number]["check"],
                "drained": None,
            }
            for number, name in enumerate(("app1", "app2"))
        ],
        "services": [],
        "redis": {"url": f"redis://127.0.0.1:{record.ports['redis']}/0", "pid": fleet.pid("redis")},
        "database": {"url": record.database_url, "pid": fleet.pid("postgres")},
        "haproxy": {
            "pid": fleet.pid("haproxy"),
            "socket": record.haproxy_socket,
            "statistics": f"http://127.0.0.1:{record.ports['statistics']}/",
        },
        "disk_free": status["disk_free"],
        "disk_low": False,
    }
    pids = fleet.pids()
    ended = chopho("down", "--state", str(fleet.state))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert fleet.supervisor.wait(timeout=10) == 0
    assert not any(is_running(pid) for pid in pids)
    gone = chopho("status", "--state", str(fleet.state))
    assert (gone.returncode, gone.stderr.count("\n")) == (6, 1)
    assert chopho("down", "--state", str(fleet.state)).returncode == 0


def test_everything_listens_on_the_loopback_alone(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state", "--with-postgres")
    fleet.open("--replicas", "1")
    family = [psutil.Process(pid) for pid in fleet.pids()]
    family += [child for process in family for child in process.children(recursive=True)]
    addresses = {
        connection.laddr[0]
        for process in family
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert addresses == {"127.0.0.1"}


def test_what_is_secret_is_for_its_owner_alone(fleet: StubFleet) -> None:
    modes = {
        name: stat.S_IMODE((fleet.state / name).stat().st_mode)
        for name in ("secrets.json", "fleet.json", ".")
    }
    assert modes == {"secrets.json": 0o600, "fleet.json": 0o600, ".": 0o700}


def test_secrets_and_data_outlive_the_fleet(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state", "--with-postgres")
    fleet.open()
    secrets, first = (fleet.state / "secrets.json").read_bytes(), fleet.record()
    fleet.down()
    fleet.open()
    again = fleet.record()
    assert (fleet.state / "secrets.json").read_bytes() == secrets
    assert first is not None
    assert again is not None
    assert again.ports == first.ports


def test_a_second_fleet_in_the_same_state_is_refused(fleet: StubFleet) -> None:
    second = chopho("up", "--state", str(fleet.state), "--port", str(free_port()))
    assert (second.returncode, second.stderr.count("\n")) == (5, 1)
    assert "a fleet already runs in" in second.stderr
    assert httpx.get(fleet.url).status_code == 200


def test_fleets_side_by_side_do_not_know_each_other(fleet: StubFleet, make_fleet: MakeFleet) -> None:
    other = make_fleet()
    other.open("--replicas", "1")
    pids = other.pids()
    other.down()
    assert not any(is_running(pid) for pid in pids)
    assert httpx.get(fleet.url).status_code == 200
    assert set(fleet.states()) == {"app1", "app2"}


def test_a_state_deeper_than_a_socket_path_may_be_works(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("/".join(["quite-a-deep-folder"] * 10))
    fleet.open("--replicas", "1")
    record = fleet.record()
    assert record is not None
    assert len(record.haproxy_socket) < 108
    assert httpx.get(fleet.url).status_code == 200
    fleet.down()
    assert not Path(record.haproxy_socket).parent.exists()


@pytest.mark.parametrize("detach", [[], ["--detach"]], ids=["staying", "detached"])
def test_a_port_in_use_is_named_with_who_has_it(tmp_path: Path, detach: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = chopho("up", "--state", str(tmp_path / "state"), "--port", str(port), *detach)
    assert (refused.returncode, refused.stderr.count("\n")) == (3, 1)
    assert f"port {port} is in use by" in refused.stderr
    assert f"(pid {os.getpid()})" in refused.stderr


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    refused = chopho(
        "up", "--state", str(tmp_path / "state"), "--port", str(free_port()), CHOPHO_HAPROXY="/not/there"
    )
    assert (refused.returncode, refused.stderr.count("\n")) == (4, 1)
    assert "CHOPHO_HAPROXY=/not/there does not exist" in refused.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "--port"),
        (["--replicas", "0"], "--replicas"),
        (["--replicas", "17"], "--replicas"),
        (["--ports", "8080"], "No such option: --ports"),
    ],
)
def test_a_wrong_option_is_one_line(options: list[str], words: str) -> None:
    refused = chopho("up", *options)
    assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (2, 1, "")
    assert words in refused.stderr


def test_a_setting_that_replicas_would_refuse_stops_the_fleet_before_it_starts(tmp_path: Path) -> None:
    refused = chopho(
        "up", "--state", str(tmp_path / "state"), "--port", str(free_port()), "--session", "ftp://x"
    )
    assert (refused.returncode, refused.stderr.count("\n")) == (8, 1)
    assert "CHOPHO_SESSION_URL" in refused.stderr
    assert not (tmp_path / "state" / "redis").exists()


def test_a_session_store_that_is_not_there_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    state, port = tmp_path / "state", free_port()
    words = ("--replicas", "1", "--state", str(state), "--port", str(port))
    refused = chopho("up", *words, "--session", f"redis://127.0.0.1:{free_port()}/0")
    assert (refused.returncode, refused.stderr.count("\n")) == (7, 1)
    assert "cannot do without this: sessions" in refused.stderr
    assert not listening(port)


def test_a_place_that_cannot_be_a_state_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = chopho("up", "--state", str(tmp_path / "file" / "state"), "--port", str(free_port()))
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "as a state directory" in refused.stderr


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "fleet.json").write_text("{half")
    for words in (["status"], ["down"], ["up", "--port", str(free_port())]):
        refused = chopho(*words, "--state", str(tmp_path))
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "fleet.json is damaged" in refused.stderr


def test_a_replica_that_cannot_start_shows_its_last_words_and_nothing_is_left(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state")
    fleet.start("--replica", sys.executable, "-c", "print('no such table: products'); raise SystemExit(3)")
    assert fleet.supervisor.wait(timeout=60) == 1
    assert "cannot start: it exited with code 3, saying: no such table: products" in fleet.said
    assert not any(is_running(pid) for pid in fleet.pids())
    assert not listening(fleet.port)


def test_dead_pids_in_the_record_are_nobody(make_fleet: MakeFleet) -> None:
    """As after a machine that lost power: pids that are gone, or by now somebody else's."""
    fleet = make_fleet()
    fleet.open("--replicas", "1")
    text = (fleet.state / "fleet.json").read_text()
    app1 = fleet.pid("app1")
    fleet.down()
    (fleet.state / "fleet.json").write_text(text.replace(f'"pid": {app1}', f'"pid": {os.getpid()}'))
    assert chopho("status", "--state", str(fleet.state)).returncode == 6
    fleet.open("--replicas", "1")
    assert httpx.get(fleet.url).status_code == 200
    assert is_running(os.getpid())


class TestAKilledSupervisor:
    """Its fleet serves on; the next supervisor takes over what it can use, and ends the rest."""

    @staticmethod
    def killed(make_fleet: MakeFleet) -> StubFleet:
        fleet = make_fleet()
        fleet.open()
        os.kill(fleet.supervisor.pid, signal.SIGKILL)
        fleet.supervisor.wait()
        assert httpx.get(fleet.url).status_code == 200
        return fleet

    def test_is_told_by_status(self, make_fleet: MakeFleet) -> None:
        status = chopho("status", "--state", str(self.killed(make_fleet).state))
        assert status.returncode == 0
        assert "its supervisor is dead" in status.stdout

    def test_leaves_a_fleet_that_the_next_one_adopts(self, make_fleet: MakeFleet) -> None:
        fleet = self.killed(make_fleet)
        before = sorted(fleet.pids())
        with Load(fleet.url) as load:
            fleet.open()
            load.wait_for_more(20)
        assert sorted(fleet.pids()) == before
        assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
        assert "app1 was still running" in fleet.said
        os.kill(fleet.pid("app1"), signal.SIGKILL)
        wait_until(lambda: "app1 is up after" in fleet.said.rpartition("app1 ended")[2], what="app1")
        fleet.wait_until_all_up()

    def test_leaves_replicas_that_a_smaller_fleet_ends(self, make_fleet: MakeFleet) -> None:
        fleet = self.killed(make_fleet)
        surplus = fleet.pid("app2")
        fleet.open("--replicas", "1")
        assert not is_running(surplus)
        assert fleet.states() == {"app1": "UP", "app2": "MAINT"}

    def test_leaves_a_fleet_that_down_ends_also_while_the_next_one_is_just_beginning(
        self, make_fleet: MakeFleet
    ) -> None:
        fleet = self.killed(make_fleet)
        pids = fleet.pids()
        with StateDirectory(fleet.state).held():
            # As if by a supervisor that has not come further yet.
            ending = subprocess.Popen(
                [sys.executable, "-m", "app", "down", "--state", str(fleet.state)], cwd=ROOT
            )
            with pytest.raises(subprocess.TimeoutExpired):
                ending.wait(timeout=4)
        assert ending.wait(timeout=60) == 0
        assert not any(is_running(pid) for pid in pids)

    def test_leaves_a_fleet_that_down_ends(self, make_fleet: MakeFleet) -> None:
        fleet = self.killed(make_fleet)
        pids = fleet.pids()
        assert chopho("down", "--state", str(fleet.state)).returncode == 0
        assert not any(is_running(pid) for pid in pids)
        assert not listening(fleet.port)
        assert not list(fleet.state.glob("*.sock"))


@pytest.mark.parametrize("replicas", [0, 17])
def test_a_fleet_has_as_many_replicas_as_haproxy_has_slots(tmp_path: Path, replicas: int) -> None:
    with pytest.raises(FleetError, match="1 to 16"):
        FleetOptions(state=StateDirectory(tmp_path), replicas=replicas)
