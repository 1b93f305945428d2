"""The doctor on a whole fleet, through its command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.doctor import CHECKS
from tests.fleet.conftest import chopho

pytestmark = pytest.mark.fleet


def test_the_local_fleet_is_well(shop_fleet: dict[str, Any]) -> None:
    told = chopho("doctor", "--json", "--state", shop_fleet["state"])
    findings = json.loads(told.stdout)["findings"]
    assert [one for one in findings if one["severity"] != "note"] == []
    assert told.returncode == 0, told.stderr


def test_a_fault_is_told_with_why_and_what_mends_it(tmp_path: Path) -> None:
    env = tmp_path / "shop.env"
    env.write_text(
        "CHOPHO_DATABASE_URL=postgresql+psycopg://127.0.0.1:1/x\n"
        "CHOPHO_SESSION_URL=redis://127.0.0.1:1\nCHOPHO_REDIS_URL=redis://127.0.0.1:1\n"
        "CHOPHO_PUBLIC_URL=https://shop.example\nCHOPHO_SECRET_KEYS=0d8f7a6b5c4e3f2a1908f7e6d5c4b3a29180716253\n"
        "LB_TCP_CHECK=1\nCHOPHO_TRUSTED_PROXIES=10.0.0.0/8\n"
    )
    told = chopho("doctor", "--env", str(env), "--only", "health-checks", "--only", "trusted-proxies")
    assert told.returncode == 21, told.stderr
    assert re.search(
        r"error\s+health-checks: .*\n.*why: .*23 minutes", told.stdout.replace("\n  ", "\n"), re.DOTALL
    )
    assert "2 checks, 2 findings" in told.stdout
    milder = chopho("doctor", "--env", str(env), "--only", "trusted-proxies")
    assert milder.returncode == 20


def test_a_check_that_does_not_exist_is_refused_with_those_that_do() -> None:
    told = chopho("doctor", "--only", "weather")
    assert told.returncode == 1
    assert all(check.name in told.stderr for check in CHECKS)
    assert len(told.stderr.splitlines()) == 1
