"""The containers, judged by their files: no engine runs in the tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path
from shutil import which
from subprocess import run
from typing import Any, Final

import pytest
import yaml

from app.clients.webhooks import SHOP_PATH
from app.fleet.topology import SERVICES as AROUND
from app.identity import PublicKeys, SigningKey
from app.settings import (
    PaymentsServiceSettings,
    RecommendationsServiceSettings,
    ReviewsServiceSettings,
    ServiceSettings,
    Settings,
    read,
)

ROOT: Final = Path(__file__).parents[2]
COMPOSE: Final[Mapping[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: Final[Mapping[str, Mapping[str, Any]]] = COMPOSE["services"]
DOCKERFILE: Final = re.sub(r"\\\n\s*", " ", (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8"))
ANSWER: Final = "0123456789abcdef" * 4
INSTRUCTIONS: Final = [
    line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line and not line.startswith("#")
]
TOLD: Final[Mapping[str, type[ServiceSettings]]] = {
    "payments": PaymentsServiceSettings,
    "reviews": ReviewsServiceSettings,
    "recommendations": RecommendationsServiceSettings,
    "inventory": ServiceSettings,
}
HAPROXY: Final = (ROOT / "haproxy.cfg").read_text(encoding="utf-8")


def seconds(written: str) -> timedelta:
    assert written.endswith("s")
    return timedelta(seconds=float(written.removesuffix("s")))


def interpolated(environment: Mapping[str, str]) -> dict[str, str]:
    """As an operator's .env fills it in, whose every answer is the same."""
    return {
        name: re.sub(r"\$\{[A-Z_]+(?::([-?])([^}]*))?\}", _answered, value)
        for name, value in environment.items()
    }


def _answered(asked: re.Match[str]) -> str:
    return asked[2] if asked[1] == "-" else ANSWER


def of(instruction: str) -> list[str]:
    """What the Dockerfile says after this word, each time."""
    return [said for word, said in INSTRUCTIONS if word == instruction]


def test_the_fleet_has_its_parts() -> None:
    assert set(SERVICES) == {"haproxy", "app", "migrate", "redis", "postgres", *AROUND}


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"], "a read-only root needs somewhere to write"
    assert not service.get("privileged")
    assert service.get("user") not in {"root", "0", 0}


@pytest.mark.parametrize("name", SERVICES)
def test_every_image_has_a_pinned_version(name: str) -> None:
    image = SERVICES[name]["image"]
    assert re.fullmatch(r"[a-z/]+:(\d+\.\d+(\.\d+)?|\$\{CHOPHO_RELEASE:-local\})", image), image


@pytest.mark.parametrize("name", ["haproxy", "app", "redis", "postgres", *AROUND])
def test_every_server_has_a_health_check_and_time_to_stop(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert seconds(SERVICES[name]["stop_grace_period"]) >= timedelta(seconds=30)
    assert SERVICES[name]["restart"] == "unless-stopped"


def test_a_replica_is_stopped_later_than_it_drains_and_ends() -> None:
    environment = SERVICES["app"]["environment"]
    needs = seconds(environment["CHOPHO_DRAIN_DELAY"]) + seconds(environment["CHOPHO_SHUTDOWN_GRACE"])
    assert seconds(SERVICES["app"]["stop_grace_period"]) > needs


@pytest.mark.parametrize("name", AROUND)
def test_a_service_is_the_same_image_told_what_it_knows_and_stopped_later_than_it_ends(name: str) -> None:
    service = SERVICES[name]
    assert service["image"] == SERVICES["app"]["image"]
    assert service["command"][:5] == ["python", "-m", "app", "serve", name]
    assert service["command"][-2:] == ["--port", service["expose"][0]]
    assert service["command"][-4:-2] == ["--host", str(IPv4Address(0))]
    told = read(TOLD[name], interpolated(service["environment"]))
    assert seconds(service["stop_grace_period"]) > told.drain_delay + told.shutdown_grace
    assert set(service["environment"]) <= {f"CHOPHO_{field.upper()}" for field in TOLD[name].model_fields}
    assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_the_shop_finds_every_service_where_nobody_else_does() -> None:
    environment = SERVICES["app"]["environment"]
    for name in AROUND:
        (port,) = SERVICES[name]["expose"]
        assert environment[f"CHOPHO_{name.upper()}_URL"] == f"http://{name}:{port}"
        assert SERVICES[name]["networks"] == ["back"]
    assert "back" in SERVICES["app"]["networks"]
    assert not set(AROUND) & set(SERVICES["app"]["depends_on"])


def test_the_shop_alone_holds_the_private_key_and_the_services_the_public_one() -> None:
    holders = {name: service["secrets"] for name, service in SERVICES.items() if "secrets" in service}
    assert holders.pop("app") == ["identity_key"]
    assert set(holders) == set(AROUND)
    assert all(held == ["identity_public_key"] for held in holders.values())
    assert set(COMPOSE["secrets"]) == {"identity_key", "identity_public_key"}
    assert SERVICES["app"]["environment"]["CHOPHO_IDENTITY_KEY"] == "/run/secrets/identity_key"
    for name in AROUND:
        told = SERVICES[name]["environment"]["CHOPHO_IDENTITY_PUBLIC_KEY"]
        assert told == "/run/secrets/identity_public_key"


def test_the_acquirer_tells_the_shop_signed_with_the_secret_that_the_shop_holds() -> None:
    told = interpolated(SERVICES["payments"]["environment"])
    (consumer,) = read(PaymentsServiceSettings, told).consumers()
    (port,) = SERVICES["app"]["expose"]
    assert consumer.url == f"http://app:{port}{SHOP_PATH}"
    shop = interpolated(SERVICES["app"]["environment"])
    assert shop["CHOPHO_PAYMENTS_WEBHOOK_SECRETS"].split(",") == list(consumer.secrets)


def test_the_key_pair_that_the_example_says_how_to_make_is_one_that_both_sides_take(tmp_path: Path) -> None:
    if which("openssl") is None:
        pytest.skip("this machine has no openssl")
    example = (ROOT / "deploy/compose.env.example").read_text(encoding="utf-8")
    for command in re.findall(r"^#   (openssl .+)$", example, re.MULTILINE):
        run(command.replace("/etc/chopho", str(tmp_path)).split(), check=True)
    private, public = tmp_path / "identity.key", tmp_path / "identity.pub"
    private.chmod(0o600)
    assert list(PublicKeys.read(public).by_kid) == [SigningKey.read(private).kid]
    assert f"chown {of('USER')[-1]} " in example


def test_the_drain_outlasts_the_balancers_notice() -> None:
    found = re.search(r"check inter (\d+)s fastinter (\d+)s .*fall (\d+)", HAPROXY)
    assert found is not None
    inter, fast, fall = map(int, found.groups())
    notice = timedelta(seconds=inter + fast * (fall - 1) + 1)
    assert seconds(SERVICES["app"]["environment"]["CHOPHO_DRAIN_DELAY"]) > notice


def test_the_balancer_is_the_same_file_with_its_own_error_pages() -> None:
    mounts = [mount.split(":") for mount in SERVICES["haproxy"]["volumes"]]
    assert ["./haproxy.cfg", "/usr/local/etc/haproxy/haproxy.cfg", "ro"] in mounts
    pages = set(re.findall(r"errorfile \d+ (\S+)", HAPROXY))
    assert pages
    assert all((ROOT / page).is_file() for page in pages)
    assert ["./deploy/haproxy", "/usr/local/etc/haproxy/deploy/haproxy", "ro"] in mounts
    assert "default-path config" in HAPROXY


def test_the_balancer_is_told_only_what_its_file_asks() -> None:
    asked = set(re.findall(r"\bLB_[A-Z_]+", HAPROXY))
    assert set(SERVICES["haproxy"]["environment"]) <= asked
    name, _, port = SERVICES["haproxy"]["environment"]["LB_REPLICAS"].partition(":")
    assert name == "app"
    assert port in SERVICES["app"]["expose"]
    assert f"--port {port}" in SERVICES["app"]["command"][-1]


def test_only_the_balancer_can_be_reached_and_only_it_is_believed() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["haproxy"]
    assert COMPOSE["networks"]["back"]["internal"] is True
    address = SERVICES["haproxy"]["networks"]["front"]["ipv4_address"]
    network = COMPOSE["networks"]["front"]["ipam"]["config"][0]
    assert SERVICES["app"]["environment"]["CHOPHO_TRUSTED_PROXIES"] == f"{address}/32"
    assert ip_address(address) in ip_network(network["subnet"])
    assert ip_address(address) not in ip_network(network["ip_range"])
    inner = [name for name in SERVICES if name not in {"haproxy", "app"}]
    assert all(SERVICES[name]["networks"] == ["back"] for name in inner)


def test_sessions_are_never_evicted_and_survive_a_restart() -> None:
    command = " ".join(SERVICES["redis"]["command"])
    assert "--maxmemory-policy noeviction" in command
    assert "--appendonly yes" in command
    assert SERVICES["redis"]["volumes"] == ["redis:/data"]
    assert "--dir /data" in command


def test_the_database_survives_a_restart() -> None:
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]
    assert {"postgres", "redis"} == set(COMPOSE["volumes"])


def test_migrations_run_once_before_the_replicas() -> None:
    assert SERVICES["migrate"]["command"] == ["python", "-m", "app", "migrate"]
    assert SERVICES["migrate"]["restart"].startswith("on-failure")
    assert SERVICES["app"]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert SERVICES["app"]["image"] == SERVICES["migrate"]["image"]


def test_no_secret_is_written_down() -> None:
    example = (ROOT / "deploy/compose.env.example").read_text(encoding="utf-8")
    assert re.findall(r"^[A-Z_]+=(.+)$", example, re.MULTILINE) == []
    wanted = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{([A-Z_]+):\?", compose)) == wanted
    assert not re.search(r"(PASSWORD|SECRET_KEYS)\}?: [^$\n]", compose)
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()


def test_every_setting_is_one_that_the_shop_knows_and_none_is_missing() -> None:
    given = set(SERVICES["app"]["environment"])
    known = {f"CHOPHO_{name.upper()}": field for name, field in Settings.model_fields.items()}
    assert given <= set(known)
    assert {name for name, field in known.items() if field.is_required()} <= given


class TestImage:
    def test_it_starts_from_a_pinned_base(self) -> None:
        bases = {said.split()[0] for said in of("FROM")}
        assert len(bases) == 1
        assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-[a-z]+", bases.pop())

    def test_it_installs_the_locked_wheels_with_their_hashes(self) -> None:
        installs = [said for said in of("RUN") if "pip install" in said]
        assert len(installs) == 1
        assert "--require-hashes" in installs[0]
        assert "--only-binary :all:" in installs[0]
        assert "COPY requirements/runtime.lock" in DOCKERFILE

    def test_it_runs_as_a_number_that_is_not_root(self) -> None:
        assert int(of("USER")[-1]) > 1000

    def test_it_can_be_asked_and_stopped(self) -> None:
        assert "/health/readiness" in of("HEALTHCHECK")[0]
        assert of("STOPSIGNAL") == ["SIGTERM"]
        assert of("CMD")[-1].startswith('["python", "-m", "app", "serve", "shop"')

    def test_it_holds_only_what_it_copies_and_no_secret(self) -> None:
        copied = {said.split()[0] for said in of("COPY") if not said.startswith("--from")}
        allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
        assert copied == {line.removeprefix("!") for line in allowed if line.startswith("!")}
        assert "*" in allowed
        assert not re.search(r"password|secret|token", DOCKERFILE, re.IGNORECASE)
