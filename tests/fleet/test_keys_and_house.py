"""New keys without a logout, logs that stay bounded, a disk that fills up, and the table that keeps up."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from itsdangerous import BadSignature, URLSafeSerializer

from app.cli.watching import Flow, Reading, flows
from app.fleet.errors import FleetError
from app.fleet.events import DiskLow, DiskWell, Event, Unwritten
from app.fleet.housekeeping import Housekeeping, HouseRules
from app.fleet.keys import Keys
from app.fleet.logs import bound
from app.fleet.runtime import Server
from app.fleet.state import StateDirectory
from tests.conftest import wait_until
from tests.fleet.conftest import ROOT, StubFleet, as_json, chopho


class Rotating:
    """The keys of a state directory, and what every replica knew after each restart."""

    def __init__(self, folder: Path, *, longest: timedelta = timedelta(hours=12)) -> None:
        self.state = StateDirectory(folder)
        self.state.make()
        self.first = self.state.secrets().session_key
        self.known: list[list[str]] = [[self.first]]
        self.fails = False
        self.keys = Keys(state=self.state, restart=self.restart, longest=longest, report=lambda _: None)

    async def restart(self) -> None:
        if self.fails:
            raise FleetError("app1 cannot start")
        self.known.append(self.state.secrets().session_key.split(","))

    def reads_everywhere(self, signed_by: list[str], known: list[str]) -> bool:
        """Whether a cookie of a replica with the one keys is read by a replica with the other."""
        cookie = URLSafeSerializer(signed_by[0]).dumps("session")
        for key in known:
            try:
                URLSafeSerializer(key).loads(cookie)
            except BadSignature:
                continue
            return True
        return False


async def test_while_keys_change_every_replica_reads_what_any_other_signs(tmp_path: Path) -> None:
    rotating = Rotating(tmp_path)
    await rotating.keys.rotate()
    old, new = rotating.first, rotating.known[-1][0]
    assert rotating.known == [[old], [old, new], [new, old]]
    # During a rolling restart replicas of two neighbouring steps serve side by side.
    for before, after in zip(rotating.known, rotating.known[1:], strict=False):
        assert rotating.reads_everywhere(before, after)
        assert rotating.reads_everywhere(after, before)


async def test_a_rotation_that_was_cut_off_is_taken_up_without_another_key(tmp_path: Path) -> None:
    rotating = Rotating(tmp_path)
    rotating.fails = True
    with pytest.raises(FleetError):
        await rotating.keys.rotate()
    with pytest.raises(FleetError, match="cut off"):
        await rotating.keys.retire()
    rotating.fails = False
    await rotating.keys.rotate()
    assert [len(keys) for keys in rotating.known] == [1, 2, 2]
    assert rotating.known[1] == rotating.known[2][::-1]


async def test_the_old_key_is_retired_when_nothing_it_signed_can_be_alive(tmp_path: Path) -> None:
    rotating = Rotating(tmp_path, longest=timedelta(hours=12))
    with pytest.raises(FleetError, match="no old key"):
        await rotating.keys.retire()
    await rotating.keys.rotate()
    for refused in (rotating.keys.rotate, rotating.keys.retire):
        with pytest.raises(FleetError, match="until"):
            await refused()
    await rotating.keys.retire(force=True)
    assert rotating.known[-1] == [rotating.known[-2][0]]
    await rotating.keys.rotate()
    assert len(rotating.state.secrets().session_key.split(",")) == 2

    patient = Rotating(tmp_path / "other", longest=timedelta(0))
    await patient.keys.rotate()
    await patient.keys.retire()
    assert len(patient.known[-1]) == 1


@pytest.mark.fleet
def test_keys_of_a_fleet_are_rotated_by_a_command(fleet: StubFleet) -> None:
    before = StateDirectory(fleet.state).secrets().session_key
    pids = {fleet.pid(name) for name in ("app1", "app2")}
    rotated = chopho("secrets", "rotate", "--state", str(fleet.state))
    assert (rotated.returncode, rotated.stderr) == (0, "")
    assert StateDirectory(fleet.state).secrets().session_key.split(",")[1] == before
    assert pids.isdisjoint({fleet.pid(name) for name in ("app1", "app2")})
    refused = chopho("secrets", "retire", "--state", str(fleet.state))
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert before not in rotated.stdout + refused.stderr


@pytest.mark.fleet
def test_the_table_keeps_up(fleet: StubFleet, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "app", "status", "--watch", "--state", str(fleet.state)]
    seen = tmp_path / "seen"
    with seen.open("wb") as out, subprocess.Popen(words, cwd=ROOT, stdout=out) as watching:

        def seen_by_now() -> bool:
            httpx.get(fleet.url)
            shown = seen.read_text()
            return "requests/s" in shown and "app2" in shown and "UP" in shown

        try:
            wait_until(seen_by_now, within_s=60, what="the table")
        finally:
            watching.terminate()


@pytest.mark.fleet
def test_the_fleet_publishes_how_much_room_there_is(fleet: StubFleet) -> None:
    wait_until((fleet.state / "metrics.prom").exists, within_s=60, what="the metrics")
    assert "chopho_disk_free_bytes " in (fleet.state / "metrics.prom").read_text()
    status = as_json(chopho("status", "--json", "--state", str(fleet.state)).stdout)
    assert status["disk_free"] > 0
    assert status["disk_low"] is False


def test_a_disk_that_fills_up_is_told_once_and_again_when_it_is_well(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.make()
    told: list[Event] = []
    low = Housekeeping(state, HouseRules(disk_reserve=2**62), told.append)
    low.look()
    low.look()
    assert [type(event) for event in told] == [DiskLow]
    assert "make room" in str(told[0])
    assert f"chopho_disk_reserve_bytes {2**62}" in state.metrics.read_text()

    room = HouseRules(disk_reserve=0)
    well = Housekeeping(state, room, told.append)
    well.look()
    assert [type(event) for event in told] == [DiskLow]
    assert str(DiskWell("disk", 2**30)) == "disk: 1,024 MiB are free again"


def test_a_house_that_cannot_put_logs_aside_or_publish_goes_on_and_says_so_once(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.make()
    state.log("app1").write_text("x" * 100)
    state.log("app1").with_suffix(".log.new").mkdir()
    told: list[Event] = []
    house = Housekeeping(state, HouseRules(log_size=50, disk_reserve=0), told.append)
    house.look()
    house.look()
    assert [type(event) for event in told] == [Unwritten]
    assert len(state.log("app1").read_text()) == 100
    state.log("app1").with_suffix(".log.new").rmdir()
    state.metrics.unlink(missing_ok=True)
    state.metrics.mkdir()
    house.look()
    assert [type(event) for event in told] == [Unwritten, Unwritten]


def test_as_many_logs_stay_as_are_wanted(tmp_path: Path) -> None:
    log = tmp_path / "app1.log"
    for number in range(5):
        log.write_text(f"{number}" * 100)
        bound(tmp_path, 50, keep=3)
    assert log.read_text() == ""
    assert [(tmp_path / f"app1.log.{number}").read_text()[0] for number in (1, 2, 3)] == ["4", "3", "2"]
    assert not (tmp_path / "app1.log.4").exists()
    log.write_text("x" * 100)
    bound(tmp_path, 50, keep=0)
    assert log.read_text() == ""


def test_rates_are_differences_and_a_new_worker_tells_nothing_yet() -> None:
    before = Reading(10.0, 3, {"app1": server(100, 2), "app2": server(500, 0)})
    now = Reading(12.0, 3, {"app1": server(150, 4), "app2": server(7, 0), "app3": server(9, 0)})
    assert flows(before, now) == {"app1": Flow(requests=25.0, errors=1.0)}
    assert flows(None, now) == {}


def server(requests: int, errors: int) -> Server:
    return Server(
        name="app1",
        state="UP",
        address="127.0.0.1:1",
        requests_running=0,
        requests_queued=0,
        requests_total=requests,
        errors_total=errors,
        check="L7OK",
    )
