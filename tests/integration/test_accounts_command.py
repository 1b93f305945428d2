"""`chopho accounts`: an operator locks, unlocks and gives roles."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from app.cli import accounts
from app.fleet.errors import FleetError
from app.stores.accounts import SqlAccounts
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.sample.accounts import load_demo_accounts
from tests.integration.test_mail_command import at
from tests.integration.test_mail_command import url as url  # noqa: PLC0414 -- a fixture


def asked(*words: str) -> dict[str, object]:
    result = CliRunner().invoke(accounts.accounts, [*words, "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    told: dict[str, object] = json.loads(result.stdout)
    return told


def test_an_operator_locks_unlocks_and_gives_roles(url: str) -> None:
    passwords = ArgonPasswords(PasswordConfig(memory_kib=64, passes=1))
    at(url, lambda database: load_demo_accounts(SqlAccounts(database=database), passwords))
    assert asked("show", "khach@chopho.example")["locked_at"] is None
    locked = asked("lock", "KHACH@chopho.example")
    assert locked["locked_at"]
    assert asked("lock", "khach@chopho.example") == locked
    assert asked("unlock", "khach@chopho.example")["locked_at"] is None
    assert asked("role", "owner", "khach@chopho.example")["role"] == "owner"
    assert asked("role", "customer", "chu@chopho.example")["role"] == "customer"
    last = CliRunner().invoke(accounts.accounts, ["lock", "khach@chopho.example"])
    assert isinstance(last.exception, FleetError)
    shown = CliRunner().invoke(accounts.accounts, ["show", "khach@chopho.example"])
    assert shown.stdout.startswith("khach@chopho.example: Khách Quen, owner, open, ")


@pytest.mark.parametrize(
    "words", [("lock",), ("lock", "nobody@chopho.example"), ("role", "king", "x@y.example")]
)
def test_what_is_meant_is_asked(url: str, words: tuple[str, ...]) -> None:
    assert url
    assert CliRunner().invoke(accounts.accounts, words).exit_code == 2
