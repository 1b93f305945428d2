"""The services around the shop belong to the fleet: started, supervised, broken on purpose and ended with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
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


def service_of(fleet: dict[str, Any], name: str) -> dict[str, Any]:
    return next(service for service in fleet["services"] if service["name"] == name)


NAMES = ("payments", "reviews", "recommendations", "inventory")


class TestTheRealServices:
    """Of the fleet that `make up` brings up."""

    @staticmethod
    def faults(fleet: dict[str, Any], *words: str) -> Any:
        done = chopho("faults", *words, "--state", str(fleet["state"]), "--json")
        assert done.returncode == 0, done.stderr
        return as_json(done.stdout)["services"]

    def test_they_run_and_every_replica_shows_their_compartments_and_breakers(
        self, shop_fleet: dict[str, Any]
    ) -> None:
        assert [service["name"] for service in shop_fleet["services"]] == list(NAMES)
        assert all(ready(service["url"]) for service in shop_fleet["services"])
        for replica in shop_fleet["replicas"]:
            wait_until(partial(self.are_up, replica["url"]), what="the services' components")
            listed = httpx.get(f"{replica['url']}/internal/compartments").json()["compartments"]
            shown = {row["name"] for row in listed}
            assert {*NAMES, *(f"{name} connections" for name in NAMES), "cache"} <= shown
        state = str(shop_fleet["state"])
        breakers = as_json(chopho("breakers", "list", "--json", "--state", state).stdout)
        for replica in shop_fleet["replicas"]:
            assert set(breakers["replicas"][replica["name"]]) == {
                "payments.authorise",
                "payments.change",
                "payments.ask",
                "reviews.list",
                "reviews.mine",
                "reviews.write",
                "reviews.moderate",
                "reviews.forget",
                "recommendations.beside",
                "inventory.product",
                "cache.read",
                "cache.write",
                *(f"gateway.{name}.echo" for name in ("payments", "reviews", "recommendations", "inventory")),
                *("gateway.reviews.list", "gateway.reviews.mine", "gateway.recommendations.beside"),
                *("gateway.inventory.product", "gateway.inventory.skus"),
            }

    @staticmethod
    def are_up(url: str) -> bool:
        components = httpx.get(f"{url}/health").json()["components"]
        return all(components[name]["state"] == "up" for name in NAMES)

    def test_a_page_shows_what_they_say_and_says_which_of_them_is_broken(
        self, shop_fleet: dict[str, Any]
    ) -> None:
        api = f"{shop_fleet['url']}/api/v1/products"
        slug = httpx.get(api).json()["items"][0]["slug"]
        page = httpx.get(f"{api}/{slug}", timeout=30)
        assert (page.json()["degraded"], page.headers.get("x-degraded")) == ([], None)
        assert page.json()["recommendations"]
        self.faults(shop_fleet, "set", "recommendations", "--error-rate", "1", "--for", "5m")
        broken = httpx.get(f"{api}/{slug}", timeout=30)
        self.faults(shop_fleet, "clear")
        assert (broken.status_code, broken.json()["degraded"]) == (200, ["recommendations"])
        assert broken.headers["x-degraded"] == "recommendations"

    def test_an_operator_breaks_it_sees_it_and_mends_it(self, shop_fleet: dict[str, Any]) -> None:
        url = service_of(shop_fleet, "payments")["url"]
        on = self.faults(
            shop_fleet,
            *("set", "payments", "--error-rate", "1", "--error-status", "503"),
            *("--endpoint", "/echo", "--for", "5m"),
        )
        assert [switch["endpoint"] for switch in on["payments"]] == ["/echo"]
        assert httpx.get(f"{url}/echo").status_code == 503
        shown = chopho("faults", "list", "--state", str(shop_fleet["state"]), COLUMNS="200").stdout
        assert "100% answer 503" in shown
        assert self.faults(shop_fleet, "clear", "payments") == {"payments": []}
        assert self.faults(shop_fleet, "list") == {name: [] for name in NAMES}
        assert httpx.get(f"{url}/echo").status_code == 200

    @pytest.mark.parametrize(
        ("words", "code", "says"),
        [
            (
                ("set", "paymnts", "--hang"),
                1,
                "no service is called 'paymnts'; there are: payments, reviews, recommendations, inventory",
            ),
            (("set", "payments"), 2, "no fault is named"),
            (("set", "payments", "--hang", "--refuse"), 2, "exclude each other"),
            (("set", "payments", "--latency", "soon"), 2, "--latency is 'soon'; wants a time"),
            (("set", "payments", "--error-rate", "2"), 2, "--error-rate"),
            (("set", "payments", "--hang", "--endpoint", "nope"), 1, "refused: endpoint"),
            (("set", "payments", "--hang", "--for", "3h"), 1, "refused: for_s"),
        ],
        ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
    )
    def test_a_wrong_wish_is_one_line_and_changes_nothing(
        self, shop_fleet: dict[str, Any], words: tuple[str, ...], code: int, says: str
    ) -> None:
        refused = chopho("faults", *words, "--state", str(shop_fleet["state"]))
        assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (code, 1, "")
        assert says in refused.stderr
        assert self.faults(shop_fleet, "list") == {name: [] for name in NAMES}


def test_without_a_fleet_there_is_nothing_to_break(tmp_path: Path) -> None:
    refused = chopho("faults", "list", "--state", str(tmp_path))
    assert (refused.returncode, refused.stderr.count("\n")) == (6, 1)
