"""Drain, ready, rolling restart, scale and reload, each while shoppers keep coming."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.fleet.errors import FleetError, WouldBeOutage
from app.fleet.hotline import SOCKET, ask
from app.fleet.orders import Drain, Order, Ready, Reload, Request, Restart, Scale
from app.fleet.state import StateDirectory
from app.planning.schedule import VIETNAM
from tests.conftest import free_port, wait_until
from tests.fleet.conftest import ROOT, MakeFleet, StubFleet, as_json, chopho, is_running
from tests.fleet.load import Load

pytestmark = pytest.mark.fleet


def ordered(fleet: StubFleet, *words: str) -> subprocess.CompletedProcess[str]:
    """As an operator types it."""
    return chopho(*words, "--state", str(fleet.state))


def done(fleet: StubFleet, order: Order) -> str:
    """What the supervisor says while it carries that out."""
    said: list[str] = []
    socket = StateDirectory(fleet.state).socket(SOCKET)
    asyncio.run(ask(socket, Request(by="test", order=order), said.append))
    return "\n".join(said)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StubFleet]:
    """A fleet that repeats nothing: what an operation costs is seen."""
    fleet = StubFleet(tmp_path_factory.mktemp("operations") / "state")
    try:
        # Nor does it take a hung replica away from a test that hangs one; a stopped one is not waited for long.
        fleet.open(LB_RETRIES="0", CHOPHO_LIVENESS_LIMIT="10m", CHOPHO_SHUTDOWN_GRACE="10s")
        yield fleet
    finally:
        fleet.end()


def test_a_drained_replica_finishes_what_it_has_and_stays_out_over_its_restart(
    whole_fleet: StubFleet,
) -> None:
    answered: list[int] = []
    slow = threading.Thread(
        target=lambda: answered.append(httpx.post(f"{whole_fleet.url}/slow?s=1.5", timeout=30).status_code)
    )
    with Load(whole_fleet.url, per_second=100) as load:
        load.wait_for_more(20)
        slow.start()
        drained = ordered(whole_fleet, "drain", "app1", "--reason", "thay đĩa")
        assert (drained.returncode, drained.stderr) == (0, "")
        assert "app1 is out of rotation and idle" in drained.stdout
        before = whole_fleet.servers()["app1"].requests_total
        load.wait_for_more(50)
        assert whole_fleet.servers()["app1"].requests_total == before

        killed = whole_fleet.pid("app1")
        os.kill(killed, signal.SIGKILL)
        wait_until(
            lambda: "app1 is up after" in whole_fleet.said.rpartition("was killed")[2],
            within_s=60,
            what="app1",
        )
        load.wait_for_more(50)
        assert whole_fleet.servers()["app1"].requests_total == before
        status = ordered(whole_fleet, "status").stdout
        assert "app1 is kept out since" in status
        assert "thay đĩa" in status

        done(whole_fleet, Ready(name="app1"))
        wait_until(
            lambda: whole_fleet.servers()["app1"].requests_total > before,
            within_s=60,
            what="requests for app1",
        )
        load.wait_for_more(20)
    slow.join()
    assert (answered, load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([200], [], 0, {200})


def test_a_rolling_restart_replaces_every_replica_and_no_shopper_notices(whole_fleet: StubFleet) -> None:
    before = {name: whole_fleet.pid(name) for name in ("app1", "app2")}
    with Load(whole_fleet.url, per_second=150, clients=20) as load:
        load.wait_for_more(50)
        assert "2 of 2 replicas" in done(whole_fleet, Restart())
        load.wait_for_more(50)
    assert all(whole_fleet.pid(name) != pid for name, pid in before.items())
    assert set(whole_fleet.states().values()) == {"UP"}
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})


def test_scaling_up_and_down_costs_no_request(whole_fleet: StubFleet) -> None:
    with Load(whole_fleet.url, per_second=150, clients=20) as load:
        load.wait_for_more(20)
        done(whole_fleet, Scale(replicas=4))
        assert whole_fleet.states() == dict.fromkeys(("app1", "app2", "app3", "app4"), "UP")
        load.wait_for_more(50)
        done(whole_fleet, Drain(name="app4"))
        done(whole_fleet, Scale(replicas=2))
        assert whole_fleet.states() == dict.fromkeys(("app1", "app2"), "UP")
        load.wait_for_more(20)
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})
    assert [slot.requests_running for slot in whole_fleet.servers().values()] == [0, 0]


def test_a_reload_of_haproxy_closes_no_connection_and_loses_no_slot(whole_fleet: StubFleet) -> None:
    master = whole_fleet.pid("haproxy")
    with Load(whole_fleet.url, per_second=150, clients=20) as load:
        load.wait_for_more(50)
        for _ in range(3):
            assert "a new worker serves" in done(whole_fleet, Reload())
            load.wait_for_more(50)
    assert whole_fleet.pid("haproxy") == master
    assert set(whole_fleet.states().values()) == {"UP"}
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})


def test_a_reload_keeps_a_drained_replica_out(whole_fleet: StubFleet) -> None:
    done(whole_fleet, Drain(name="app2"))
    done(whole_fleet, Reload())
    assert whole_fleet.states() == {"app1": "UP", "app2": "DRAIN"}
    with pytest.raises(WouldBeOutage, match="app1 is the last one"):
        done(whole_fleet, Drain(name="app1"))
    assert {httpx.get(whole_fleet.url).headers["x-served-by"] for _ in range(6)} == {"app1"}
    done(whole_fleet, Ready(name="app2"))


def test_a_restart_goes_on_when_its_command_is_killed_and_a_second_operator_is_told_to_wait(
    whole_fleet: StubFleet,
) -> None:
    before = {name: whole_fleet.pid(name) for name in ("app1", "app2")}
    words = [sys.executable, "-m", "app", "restart", "--rolling", "--state", str(whole_fleet.state)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as command:
        wait_until(lambda: _operation(whole_fleet) == "rolling restart", within_s=60, what="the restart")
        command.kill()
    refused = ordered(whole_fleet, "scale", "3")
    assert (refused.returncode, refused.stderr.count("\n")) == (11, 1)
    assert "rolling restart" in refused.stderr
    wait_until(lambda: _operation(whole_fleet) is None, within_s=90, what="the end of the restart")
    assert all(whole_fleet.pid(name) != pid for name, pid in before.items())
    assert whole_fleet.states() == {"app1": "UP", "app2": "UP"}


def test_an_unknown_replica_is_one_line_with_those_there_are(whole_fleet: StubFleet) -> None:
    refused = ordered(whole_fleet, "ready", "app9")
    assert (refused.returncode, refused.stderr.count("\n")) == (12, 1)
    assert "there are: app1, app2" in refused.stderr


@pytest.mark.parametrize("through", ["supervisor", "socket"])
def test_a_reason_that_no_replica_takes_changes_nothing(whole_fleet: StubFleet, through: str) -> None:
    socket = ("--socket", str(whole_fleet.runtime.socket)) if through == "socket" else ()
    refused = ordered(whole_fleet, "drain", "app1", "--reason", "a\x1b[31m", *socket)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "wants a line of text" in refused.stderr
    record = whole_fleet.record()
    assert record is not None
    assert (record.drained, whole_fleet.states()["app1"]) == ({}, "UP")


def test_nobody_is_scaled_away_whose_going_would_be_an_outage(whole_fleet: StubFleet) -> None:
    done(whole_fleet, Drain(name="app1"))
    try:
        refused = ordered(whole_fleet, "scale", "1")
        assert (refused.returncode, refused.stderr.count("\n")) == (14, 1)
        assert "only app2 would go" in refused.stderr
        assert whole_fleet.states()["app2"] == "UP"
    finally:
        done(whole_fleet, Ready(name="app1"))


def test_a_rolling_restart_leaves_nobody_without_a_server_when_one_is_down_already(
    whole_fleet: StubFleet,
) -> None:
    os.kill(whole_fleet.pid("app2"), signal.SIGSTOP)
    wait_until(lambda: whole_fleet.states()["app2"] == "DOWN", within_s=60, what="HAProxy to notice")
    with Load(whole_fleet.url, per_second=50) as load:
        done(whole_fleet, Restart())
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
    assert whole_fleet.states() == {"app1": "UP", "app2": "UP"}


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [("restart '{name}", 1, "cannot be read"), ("/nowhere/restart {name}", 7, "stays drained")],
)
def test_a_command_that_cannot_restart_anything_is_one_line(
    whole_fleet: StubFleet, command: str, code: int, said: str
) -> None:
    socket = str(whole_fleet.runtime.socket)
    try:
        refused = chopho("restart", "--rolling", "--socket", socket, "--with", command)
        assert (refused.returncode, refused.stderr.count("\n")) == (code, 1)
        assert said in refused.stderr
    finally:
        done(whole_fleet, Ready(name="app1"))


def test_a_fleet_of_others_keeps_what_its_operator_drained_out(whole_fleet: StubFleet) -> None:
    done(whole_fleet, Scale(replicas=3))
    socket = str(whole_fleet.runtime.socket)
    try:
        assert chopho("drain", "app1", "--socket", socket).returncode == 0
        restarted = chopho("restart", "--rolling", "--socket", socket, "--with", "true {name}")
        assert (restarted.returncode, restarted.stderr) == (0, "")
        assert whole_fleet.states() == {"app1": "DRAIN", "app2": "UP", "app3": "UP"}
    finally:
        done(whole_fleet, Ready(name="app1"))
        done(whole_fleet, Scale(replicas=2))


def test_a_fleet_of_others_is_restarted_two_at_a_time_and_one_that_fails_leaves_no_other_half_way(
    whole_fleet: StubFleet, tmp_path: Path
) -> None:
    done(whole_fleet, Scale(replicas=3))
    at = ("--socket", str(whole_fleet.runtime.socket), "--max-unavailable")
    # The first of two fails at once, while the second still has to begin.
    slow = tmp_path / "restart"
    slow.write_text('#!/bin/sh\n[ "$1" = app1 ] && exit 1\nsleep 1\ntouch "$2/$1"\n')
    slow.chmod(0o700)
    try:
        refused = chopho("restart", "--rolling", "--with", "true {name}", *at, "3")
        assert (refused.returncode, refused.stderr.count("\n")) == (14, 1)
        assert "smaller --max-unavailable" in refused.stderr
        stopped = chopho("restart", "--rolling", "--with", f"{slow} {{name}} {tmp_path}", *at, "2")
        assert (stopped.returncode, stopped.stderr.count("\n")) == (7, 1)
        assert whole_fleet.states() == {"app1": "DRAIN", "app2": "UP", "app3": "UP"}
        assert (tmp_path / "app2").exists()
        done(whole_fleet, Ready(name="app1"))
        restarted = chopho("restart", "--rolling", "--with", f"touch {tmp_path}/{{name}}", *at, "2")
        assert (restarted.returncode, restarted.stderr) == (0, "")
        assert "2 of 3 replicas" in restarted.stdout
        assert set(whole_fleet.states().values()) == {"UP"}
    finally:
        done(whole_fleet, Ready(name="app1"))
        done(whole_fleet, Scale(replicas=2))


def test_machines_get_one_object(whole_fleet: StubFleet) -> None:
    ended = as_json(ordered(whole_fleet, "scale", "2", "--json").stdout)
    assert (ended["ok"], ended["error"]) == (True, None)
    refused = ordered(whole_fleet, "drain", "app9", "--json")
    assert refused.returncode == 12
    assert "no replica 'app9'" in as_json(refused.stdout)["error"]


async def test_the_supervisor_says_what_it_does_not_understand(whole_fleet: StubFleet) -> None:
    reader, writer = await asyncio.open_unix_connection(whole_fleet.state / SOCKET)
    writer.write(b'{"by": "me", "order": {"order": "explode"}}\n')
    ended = json.loads(await reader.readline())
    assert "does not understand" in ended["error"]
    writer.close()
    await writer.wait_closed()


def test_through_haproxys_socket_a_fleet_of_others_is_drained_and_restarted(
    whole_fleet: StubFleet, tmp_path: Path
) -> None:
    """As when systemd has started the replicas: no state directory, only the socket."""
    record = whole_fleet.record()
    assert record is not None
    at = ("--socket", record.haproxy_socket, "--redis", str(record.redis_url))
    with Load(whole_fleet.url) as load:
        restarted = chopho("restart", "--rolling", "--with", f"touch {tmp_path}/{{name}}", *at)
        assert restarted.returncode == 0, restarted.stderr
        stopped = chopho("restart", "--rolling", "--with", "false {name}", *at)
        assert (stopped.returncode, whole_fleet.states()) == (7, {"app1": "DRAIN", "app2": "UP"})
        assert chopho("ready", "app1", *at).returncode == 0
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["app1", "app2"]


def test_a_restart_stops_at_the_first_replica_that_does_not_come_back(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    broken = fleet.state / "broken"
    code = (
        f"import pathlib, runpy, sys\nif pathlib.Path({str(broken)!r}).exists(): sys.exit('new code is broken')\n"
        "runpy.run_module('tests.apps.shop_stub', run_name='__main__')"
    )
    fleet.open("--replica", sys.executable, "-c", code)
    second = fleet.pid("app2")
    broken.touch()
    with Load(fleet.url) as load:
        stopped = ordered(fleet, "restart", "--rolling")
    assert (stopped.returncode, stopped.stderr.count("\n")) == (7, 1)
    assert "new code is broken" in stopped.stderr
    assert fleet.pid("app2") == second
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
    broken.unlink()
    wait_until(lambda: set(fleet.states().values()) == {"UP"}, within_s=60, what="app1 by itself")


def test_a_fleet_of_one_gets_a_stand_in_and_without_a_supervisor_an_order_says_so(
    make_fleet: MakeFleet,
) -> None:
    fleet = make_fleet()
    fleet.open("--replicas", "1", LB_RETRIES="0")
    before = fleet.pid("app1")
    with Load(fleet.url, per_second=100) as load:
        load.wait_for_more(20)
        done(fleet, Restart())
        load.wait_for_more(20)
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})
    assert fleet.pid("app1") != before
    assert fleet.states() == {"app1": "UP"}

    os.kill(fleet.supervisor.pid, signal.SIGKILL)
    fleet.supervisor.wait()
    refused = ordered(fleet, "scale", "2")
    assert (refused.returncode, refused.stderr.count("\n")) == (13, 1)
    assert "chopho up" in refused.stderr


async def test_an_order_is_called_off_when_the_fleet_goes_down(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    await asyncio.to_thread(fleet.open)
    socket = StateDirectory(fleet.state).socket(SOCKET)
    request = Request(by="me", order=Restart())
    asking = asyncio.create_task(ask(socket, request, lambda _: None))
    await asyncio.to_thread(wait_until, lambda: _operation(fleet) is not None)
    fleet.supervisor.terminate()
    with pytest.raises(FleetError, match=r"called off|went away"):
        await asking
    assert await asyncio.to_thread(fleet.supervisor.wait, 60) == 0
    assert not any(is_running(pid) for pid in fleet.pids())


def _operation(fleet: StubFleet) -> str | None:
    record = fleet.record()
    return record.operation.what if record is not None and record.operation is not None else None


def test_a_drained_slot_whose_checks_fail_is_joined_again(whole_fleet: StubFleet) -> None:
    """HAProxy calls it DOWN, as if it were only down: a slow start would then leave it out for ever."""
    asyncio.run(whole_fleet.runtime.drain("app1"))
    stopped = whole_fleet.pid("app1")
    os.kill(stopped, signal.SIGSTOP)
    try:
        wait_until(lambda: whole_fleet.states()["app1"] == "DOWN", within_s=60, what="failing checks")
    finally:
        os.kill(stopped, signal.SIGCONT)
    done(whole_fleet, Ready(name="app1"))
    assert whole_fleet.states()["app1"] == "UP"


def test_a_schedule_brings_a_replica_and_takes_it_away_without_a_lost_request(whole_fleet: StubFleet) -> None:
    now = datetime.now(VIETNAM)
    start, until = (now - timedelta(hours=1)).strftime("%H:%M"), (now + timedelta(hours=1)).strftime("%H:%M")
    with Load(whole_fleet.url, per_second=100) as load:
        added = ordered(whole_fleet, "schedule", "add", start, "--until", until, "--replicas", "3")
        assert (added.returncode, added.stdout) == (0, f"1  {start} to {until}: 3\n")
        wait_until(lambda: whole_fleet.states().get("app3") == "UP", within_s=60, what="app3")
        assert "the schedule says" in whole_fleet.said
        refused = ordered(whole_fleet, "schedule", "remove", "7")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert ordered(whole_fleet, "schedule", "remove", "1").returncode == 0
        wait_until(lambda: "app3" not in whole_fleet.states(), within_s=60, what="the end of app3")
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("schedule", "add", "25:00", "--until", "8:00", "--replicas", "2"), "wants a time of the day"),
        (("schedule", "add", "8:00", "--until", "8:00", "--replicas", "2"), "begins when it ends"),
        (("autoscale", "--cpu", "60", "--min", "5", "--max", "2"), "1 ≤ min ≤ max"),
        (("autoscale", "--cpu", "60", "--window", "1s"), "noise"),
        (("autoscale", "--min", "4"), "say --cpu"),
        (("restart",), "--rolling"),
        (("scale", "17"), "16"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    refused = chopho(*words, "--state", str(tmp_path))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert said in refused.stderr


@pytest.mark.parametrize("words", [("schedule", "list"), ("autoscale",)])
def test_looking_at_the_plan_changes_no_directory(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The directory may be anybody's: a wrong --state must not shut others out of it."""
    tmp_path.chmod(0o755)
    assert chopho(*words, "--state", str(tmp_path)).returncode == 0
    assert chopho(*words, "--state", str(tmp_path / "none")).returncode == 0
    assert (list(tmp_path.iterdir()), tmp_path.stat().st_mode & 0o777) == ([], 0o755)


def test_a_reload_while_a_replica_is_down_sends_nobody_there(whole_fleet: StubFleet) -> None:
    """What leaves maintenance counts as healthy, so whoever is down must not leave it by the reload."""
    hung = whole_fleet.pid("app2")
    os.kill(hung, signal.SIGSTOP)
    try:
        wait_until(lambda: whole_fleet.states()["app2"] == "DOWN", within_s=60, what="HAProxy to notice")
        with Load(whole_fleet.url, per_second=100) as load:
            done(whole_fleet, Reload())
            load.wait_for_more(50)
        assert whole_fleet.servers()["app2"].requests_total == 0
        assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})
    finally:
        os.kill(hung, signal.SIGCONT)


def test_a_port_that_changed_holds_over_every_reload(whole_fleet: StubFleet) -> None:
    for port in (free_port(), free_port()):
        asyncio.run(whole_fleet.runtime.join("app9", port))
        done(whole_fleet, Reload())
        assert whole_fleet.servers()["app9"].address == f"127.0.0.1:{port}"
    asyncio.run(whole_fleet.runtime.forget("app9"))
