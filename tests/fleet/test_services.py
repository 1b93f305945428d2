"""The services around the shop belong to the fleet: started, supervised, broken on purpose and ended with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import listening, wait_until
from tests.fleet.conftest import MakeFleet, StubFleet, as_json, chopho, is_running

pytestmark = pytest.mark.fleet

SERVICE = f"{sys.executable} -m tests.apps.service_stub"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StubFleet]:
    """One replica and one service, both stubs."""
    fleet = StubFleet(tmp_path_factory.mktemp("fleet") / "state", "--replicas", "1", "--service", SERVICE)
    try:
        fleet.open()
        yield fleet
    finally:
        fleet.end()


def services(state: Path | str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = as_json(chopho("status", "--json", "--state", str(state)).stdout)[
        "services"
    ]
    return found


def ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/readiness").status_code == 200
    except httpx.HTTPError:
        return False


def test_a_service_is_told_with_its_address_and_has_a_log_of_its_own(fleet: StubFleet) -> None:
    (service,) = services(fleet.state)
    assert service == {
        "name": "payments",
        "url": fleet.replica_url("payments"),
        "pid": fleet.pid("payments"),
    }
    assert ready(service["url"])
    shown = chopho("status", "--state", str(fleet.state), COLUMNS="200").stdout
    assert f"{service['pid']}" in next(line for line in shown.splitlines() if line.startswith("payments"))
    assert (fleet.state / "logs" / "payments.log").exists()


@pytest.mark.parametrize(
    ("number", "verdict"),
    [(signal.SIGKILL, "was killed by SIGKILL"), (signal.SIGTERM, "exited with code 0")],
)
def test_a_service_that_ends_unasked_is_back_at_its_address_and_the_shop_goes_on_meanwhile(
    fleet: StubFleet, number: signal.Signals, verdict: str
) -> None:
    wait_until(lambda: ready(fleet.replica_url("payments")), what="the service")
    ended, url = fleet.pid("payments"), fleet.replica_url("payments")
    os.kill(ended, number)
    wait_until(lambda: not is_running(ended), within_s=40, what="its end")
    assert httpx.get(fleet.url).status_code == 200
    wait_until(lambda: fleet.pid("payments") != ended and ready(url), within_s=40, what="another one")
    assert f"payments {verdict}" in fleet.said
    assert services(fleet.state)[0]["url"] == url


def test_a_fleet_is_open_only_once_every_service_answers(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state", "--replicas", "1")
    fleet.start("--service", f"{sys.executable} -c print('no.such.table')")
    assert fleet.supervisor.wait(timeout=60) == 1
    assert "payments cannot start: it exited with code 0, saying: no.such.table" in fleet.said
    assert not any(is_running(pid) for pid in fleet.pids())


def test_a_service_goes_with_its_fleet(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state", "--replicas", "1", "--service", SERVICE)
    fleet.open()
    record = fleet.record()
    assert record is not None
    fleet.down()
    assert not listening(record.ports["payments"])
    order = [line.split()[0] for line in fleet.said.splitlines() if "stopped after" in line]
    assert order.index("app1") < order.index("payments") < order.index("haproxy")


def test_without_a_fleet_there_is_nothing_to_break(tmp_path: Path) -> None:
    refused = chopho("faults", "list", "--state", str(tmp_path))
    assert (refused.returncode, refused.stderr.count("\n")) == (6, 1)
