"""`chopho mail`: an operator sees what waits and has it tried again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection
from typer.testing import CliRunner

from app.cli import mail
from app.shop.mail import Message
from app.stores import outbox
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from app.stores.outbox import SqlOutbox

T = TypeVar("T")


@pytest.fixture
def url(empty_database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A shop that the settings in the environment name."""
    migrate(empty_database_url)
    for name, value in {
        "DATABASE_URL": empty_database_url,
        "SESSION_URL": redis_url,
        "REDIS_URL": redis_url,
        "SECRET_KEYS": "k" * 32,
        "PUBLIC_URL": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(f"CHOPHO_{name}", value)
    return empty_database_url


def asked(*words: str) -> str:
    """What a command that succeeds says."""
    result = CliRunner().invoke(mail.mail, words, env={"COLUMNS": "250"})
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def at(url: str, work: Callable[[Database], Coroutine[Any, Any, T]]) -> T:
    async def done() -> T:
        database = Database(DatabaseConfig(url=url, pool_size=1))
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(done())


async def _given_up(database: Database) -> str:
    async def work(connection: AsyncConnection) -> None:
        await outbox.add(connection, Message(kind="welcome", recipient="[a]@khach.example"))

    await database.transaction(work)
    box = SqlOutbox(database=database)
    (due,) = await box.take(1, lease=timedelta(0))
    await box.give_up(due.id, why="SMTPRecipientsRefused 550")
    return due.id


def test_what_waits_is_shown_and_what_was_given_up_is_tried_again(url: str) -> None:
    assert asked("pending") == "no mail waits\n"
    assert json.loads(asked("pending", "--json")) == []
    message_id = at(url, _given_up)
    shown = asked("pending")
    assert all(words in shown for words in (message_id, "[a]@khach.example", "given up", "550"))
    (told,) = json.loads(asked("pending", "--json"))
    assert (told["id"], told["kind"], told["attempts"]) == (message_id, "welcome", 1)
    assert asked("retry", message_id) == "1 mail to be tried again\n"
    assert "given up" not in asked("pending")
    assert asked("retry", "--all") == "1 mail to be tried again\n"


def test_what_is_meant_is_asked(url: str) -> None:
    assert url
    nobody = "00000000-0000-0000-0000-000000000000"
    for words, says in [
        ((), "its ID, or --all"),
        ((nobody, "--all"), "its ID, or --all"),
        (("x",), "Invalid value"),
        ((nobody,), "waits or was given up"),
    ]:
        result = CliRunner().invoke(mail.mail, ["retry", *words], env={"COLUMNS": "250"})
        assert result.exit_code != 0
        assert says in f"{result.output} {result.exception}"
