"""The times in every file that ships fit together; `app.planning.timeouts` says what that means."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from app.doctor import Balancer
from app.doctor.timeouts import balancer_times, replica_times
from app.fleet.programs import Programs
from app.fleet.state import StateDirectory
from app.fleet.topology import SERVICES, FleetOptions, Topology
from app.planning.timeouts import detection_s, mismatches
from app.settings import Settings
from app.settings.fields import PREFIX

ROOT: Final = Path(__file__).parents[2]
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
UNITS: Final = sorted((ROOT / "deploy").rglob("*.service"))
MANIFESTS: Final = sorted((ROOT / "deploy").rglob("kubernetes/*.y*ml"))
VARIANTS: Final[tuple[dict[str, str], ...]] = (
    {},
    {"LB_BALANCE": "leastconn"},
    {"LB_STICKY": "key"},
    {"LB_REPLICAS": "app:8000"},
)


def seconds(written: str) -> float:
    """A time as compose, systemd and our settings write it."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|min)?", written)
    assert found, written
    return float(found[1]) * (60 if found[2] in {"m", "min"} else 1)


def settings(**changes: timedelta) -> Settings:
    """The defaults, but for these."""
    needed = {
        "database_url": "postgresql+psycopg://db/chopho",
        "session_url": "redis://redis",
        "redis_url": "redis://redis",
        "secret_keys": "0123456789abcdefghijklmnopqrstuvwxyz",
        "public_url": "https://shop.example",
    }
    return Settings.model_validate({**needed, **changes})


def told(environment: dict[str, str]) -> Settings:
    """The settings with what a file that ships sets of the times."""
    names = ("drain_delay", "shutdown_grace", "payments_timeout")
    given = {name: environment.get(f"{PREFIX}{name.upper()}") for name in names}
    return settings(**{name: timedelta(seconds=seconds(value)) for name, value in given.items() if value})


def disagreeing(environment: dict[str, str], replica: Settings, *, stop_s: float) -> list[str]:
    balancer = Balancer.read(ROOT / "haproxy.cfg", environment)
    return [
        mismatch.what
        for backend in balancer.backends()
        for mismatch in mismatches(balancer_times(balancer, backend), replica_times(replica, stop_s=stop_s))
    ]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_balancer_and_the_defaults_of_a_replica_agree(variant: dict[str, str]) -> None:
    assert disagreeing(variant, settings(), stop_s=float("inf")) == []


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_hung_replica_is_out_within_its_budget(variant: dict[str, str]) -> None:
    balancer = Balancer.read(ROOT / "haproxy.cfg", variant)
    assert all(detection_s(balancer_times(balancer, one).check) <= 7 for one in balancer.backends())


def test_compose_stops_a_replica_later_than_it_ends() -> None:
    app = COMPOSE["services"]["app"]
    stop_s = seconds(app["stop_grace_period"])
    assert disagreeing({"LB_REPLICAS": "app:8000"}, told(app["environment"]), stop_s=stop_s) == []


@pytest.mark.parametrize("name", SERVICES)
def test_compose_stops_a_service_later_than_it_ends(name: str) -> None:
    service = COMPOSE["services"][name]
    grace = service["environment"]["CHOPHO_SHUTDOWN_GRACE"]
    assert seconds(service["stop_grace_period"]) >= seconds(grace) + 5


def test_compose_lets_the_balancer_finish_what_it_has() -> None:
    grace = seconds(COMPOSE["services"]["haproxy"]["stop_grace_period"])
    server = Balancer.read(ROOT / "haproxy.cfg", {}).time_s("timeout server")
    assert server is not None
    assert grace > server


def test_the_local_fleet_stops_a_replica_later_than_it_ends(tmp_path: Path) -> None:
    options = FleetOptions(state=StateDirectory(tmp_path), programs=Programs())
    fleet = Topology(options, dict.fromkeys(options.needed_ports, 1))
    command = fleet.replica_command("app1")
    assert command.stop_timeout > fleet.shop_settings().shutdown_grace
    assert disagreeing({}, fleet.shop_settings(), stop_s=float("inf")) == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_of_a_replica_stops_it_later_than_it_ends(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    if "serve shop" not in text:
        pytest.skip("it runs no replica")
    found = re.search(r"^TimeoutStopSec=(\S+)$", text, re.MULTILINE)
    assert found, "a unit of a replica says how long its stop may take"
    environment = dict(re.findall(rf"^Environment=\"?({PREFIX}\w+)=([^\"\n]+)", text, re.MULTILINE))
    assert disagreeing({}, told(environment), stop_s=seconds(found[1])) == []


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.name)
def test_a_manifest_of_a_replica_stops_it_later_than_it_ends(manifest: Path) -> None:
    for document in yaml.safe_load_all(manifest.read_text(encoding="utf-8")):
        pod = ((document or {}).get("spec", {}).get("template", {}) or {}).get("spec", {})
        if "serve" not in str(pod):
            continue
        given = {one["name"]: str(one.get("value", "")) for one in pod["containers"][0].get("env", [])}
        assert disagreeing({}, told(given), stop_s=pod["terminationGracePeriodSeconds"]) == []
