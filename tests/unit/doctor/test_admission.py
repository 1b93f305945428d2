"""Who is examined, and what is said of a file that cannot be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from app.doctor import CHECKS
from app.doctor.admission import Patient, admit, variables
from app.fleet.errors import FleetError, NotRunning
from app.fleet.state import StateDirectory
from app.settings import SettingsError

ENV = """
# as systemd reads it
CHOPHO_DATABASE_URL='postgresql+psycopg://chopho:p w@db/chopho'
export CHOPHO_SESSION_URL=redis://redis/0
CHOPHO_REDIS_URL=redis://redis/1
CHOPHO_SECRET_KEYS=0123456789abcdefghijklmnopqrstuvwxyz
CHOPHO_PUBLIC_URL=https://shop.example
LB_STICKY=key
"""


@pytest.fixture
def env(tmp_path: Path) -> Path:
    file = tmp_path / "shop.env"
    file.write_text(ENV)
    return file


def test_a_file_of_variables_is_a_configuration_and_its_balancer(tmp_path: Path, env: Path) -> None:
    subject = admit(Patient(state=StateDirectory(tmp_path), env=env, replicas=3), {})
    assert subject.replicas == 3
    assert subject.one.session_url == "redis://redis/0"
    assert subject.balancer is not None
    assert subject.balancer.backends()[0].has("cookie")


def test_the_environment_is_examined_where_it_is_a_shops(tmp_path: Path, env: Path) -> None:
    subject = admit(Patient(state=StateDirectory(tmp_path)), variables(env))
    assert list(subject.settings) == ["configuration"]
    assert not subject.is_local


def test_a_file_that_is_no_list_of_variables_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wrong"
    file.write_text("CHOPHO_SESSION_URL: redis://redis/0")
    with pytest.raises(FleetError, match="NAME=value"):
        variables(file)
    with pytest.raises(FleetError, match="cannot read"):
        variables(tmp_path / "missing")
    file.write_bytes(b"A='open")
    with pytest.raises(FleetError, match="cannot read"):
        variables(file)


def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path, env: Path) -> None:
    env.write_text(ENV + "CHOPHO_DRAIN_DELAY=soon\n")
    with pytest.raises(SettingsError, match="CHOPHO_DRAIN_DELAY"):
        admit(Patient(state=StateDirectory(tmp_path), env=env), {})


def test_where_nothing_runs_and_nothing_is_named_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotRunning):
        admit(Patient(state=StateDirectory(tmp_path)), {})


def test_a_balancer_that_cannot_be_read_is_told(tmp_path: Path, env: Path) -> None:
    wrong = tmp_path / "haproxy.cfg"
    wrong.write_text(".if moon(full)\n.endif\n")
    with pytest.raises(FleetError, match="moon"):
        admit(Patient(state=StateDirectory(tmp_path), env=env, haproxy=wrong), {})


def test_the_guide_lists_every_check() -> None:
    listed = re.findall(
        r"^\| `([a-z-]+)` \|", Path("docs/doctor.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert listed == [check.name for check in CHECKS]


@pytest.mark.parametrize("told", [{"addresses": ("http://127.0.0.1:1",)}, {"stop_timeout_s": 5.0}])
def test_what_describes_a_configuration_is_not_ignored_beside_a_local_fleet(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    with pytest.raises(FleetError, match="--env"):
        admit(Patient(state=StateDirectory(tmp_path), **told), {})
