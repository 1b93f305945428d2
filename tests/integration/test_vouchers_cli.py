"""`chopho vouchers`: what the command makes is what shoppers can use, until it ends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.fleet.record import FleetRecord, ProcessRecord
from app.fleet.state import StateDirectory
from app.stores.migrations import migrate
from tests.integration.test_operators_cli import chopho


@pytest.fixture
def state(tmp_path: Path, empty_database_url: str, redis_url: str) -> Path:
    """A state directory that says that a shop runs."""
    migrate(empty_database_url)
    directory = StateDirectory(tmp_path / "state")
    directory.make()
    own = psutil.Process()
    FleetRecord(
        phase="running",
        supervisor=ProcessRecord(pid=own.pid, started=own.create_time()),
        url="http://127.0.0.1:1",
        redis_url=redis_url,
        database_url=empty_database_url,
        session_url=redis_url,
    ).save(directory.record)
    return directory.path


async def test_a_voucher_is_made_shown_and_ended(state: Path) -> None:
    async def vouchers(*words: str) -> tuple[int, str, str]:
        return await chopho("vouchers", *words, "--state", str(state))

    assert (await vouchers("list"))[1] == "there are no vouchers\n"
    terms = [
        "--percent",
        "10",
        "--at-most",
        "50000",
        "--since",
        "2027-01-20",
        "--until",
        "2027-02-05",
        "--limit",
        "5",
    ]
    code, said, _ = await vouchers("add", "tet-2027", *terms)
    assert code == 0
    assert said == "TET-2027 is good from 00:00 2027-01-20 until 00:00 2027-02-06, Vietnam's time\n"
    told: list[dict[str, Any]] = json.loads((await vouchers("list", "--json"))[1])
    assert [(one["code"], one["percent"], one["at_most"], one["used"]) for one in told] == [
        ("TET-2027", 10, 50_000, 0)
    ]
    assert "0 of 5" in (await vouchers("list"))[1]
    assert (await vouchers("end", "tet-2027"))[1] == "TET-2027 has ended\n"
    for words, why in (
        (("add", "TET-2027", "--amount", "1"), "already"),
        (("end", "TET-2027"), "is good"),
        (("add", "A B", "--amount", "1"), "voucher"),
        (("add", "NEW", "--amount", "1", "--percent", "1"), "either"),
        (("add", "NEW", "--amount", "1000000000001"), "amount must be at most 1000000000000"),
        (("add", "NEW", "--amount", "1", "--until", "2027"), "2026-12-01"),
    ):
        code, _, error = await vouchers(*words)
        assert code != 0, words
        assert why in error
        assert error.count("\n") == 1
