"""The services around the shop, in the fleet that `make up` brings up."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
import pytest

from tests.breakers import BREAKERS
from tests.conftest import wait_until
from tests.fleet.conftest import as_json, chopho
from tests.fleet.test_services import ready

pytestmark = pytest.mark.fleet

NAMES = ("payments", "reviews", "recommendations", "inventory")


def service_of(fleet: dict[str, Any], name: str) -> dict[str, Any]:
    return next(service for service in fleet["services"] if service["name"] == name)


def faults(fleet: dict[str, Any], *words: str) -> Any:
    done = chopho("faults", *words, "--state", str(fleet["state"]), "--json")
    assert done.returncode == 0, done.stderr
    return as_json(done.stdout)["services"]


def test_they_run_and_every_replica_shows_their_compartments_and_breakers(shop_fleet: dict[str, Any]) -> None:
    assert [service["name"] for service in shop_fleet["services"]] == list(NAMES)
    assert all(ready(service["url"]) for service in shop_fleet["services"])
    for replica in shop_fleet["replicas"]:
        wait_until(partial(are_up, replica["url"]), what="the services' components")
        listed = httpx.get(f"{replica['url']}/internal/compartments").json()["compartments"]
        shown = {row["name"] for row in listed}
        assert {*NAMES, *(f"{name} connections" for name in NAMES), "cache"} <= shown
    state = str(shop_fleet["state"])
    breakers = as_json(chopho("breakers", "list", "--json", "--state", state).stdout)
    for replica in shop_fleet["replicas"]:
        echoes = {f"gateway.{name}.echo" for name in NAMES}  # the local fleet has them on
        assert set(breakers["replicas"][replica["name"]]) == {*BREAKERS, *echoes}


def are_up(url: str) -> bool:
    components = httpx.get(f"{url}/health").json()["components"]
    return all(components[name]["state"] == "up" for name in NAMES)


def test_a_page_shows_what_they_say_and_says_which_of_them_is_broken(shop_fleet: dict[str, Any]) -> None:
    api = f"{shop_fleet['url']}/api/v1/products"
    slug = httpx.get(api).json()["items"][0]["slug"]
    page = httpx.get(f"{api}/{slug}", timeout=30)
    assert (page.json()["degraded"], page.headers.get("x-degraded")) == ([], None)
    assert page.json()["recommendations"]
    faults(shop_fleet, "set", "recommendations", "--error-rate", "1", "--for", "5m")
    broken = httpx.get(f"{api}/{slug}", timeout=30)
    faults(shop_fleet, "clear")
    assert (broken.status_code, broken.json()["degraded"]) == (200, ["recommendations"])
    assert broken.headers["x-degraded"] == "recommendations"


def test_an_operator_breaks_it_sees_it_and_mends_it(shop_fleet: dict[str, Any]) -> None:
    url = service_of(shop_fleet, "payments")["url"]
    on = faults(
        shop_fleet,
        *("set", "payments", "--error-rate", "1", "--error-status", "503"),
        *("--endpoint", "/echo", "--for", "5m"),
    )
    assert [switch["endpoint"] for switch in on["payments"]] == ["/echo"]
    assert httpx.get(f"{url}/echo").status_code == 503
    shown = chopho("faults", "list", "--state", str(shop_fleet["state"]), COLUMNS="200").stdout
    assert "100% answer 503" in shown
    assert faults(shop_fleet, "clear", "payments") == {"payments": []}
    assert faults(shop_fleet, "list") == {name: [] for name in NAMES}
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
    shop_fleet: dict[str, Any], words: tuple[str, ...], code: int, says: str
) -> None:
    refused = chopho("faults", *words, "--state", str(shop_fleet["state"]))
    assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (code, 1, "")
    assert says in refused.stderr
    assert faults(shop_fleet, "list") == {name: [] for name in NAMES}
