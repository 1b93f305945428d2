"""Mail is kept with what gives reason for it, and each goes to one taker at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.mail import Message
from app.stores import outbox
from app.stores.database import Database
from app.stores.outbox import SqlOutbox
from app.stores.tables_mail import outbox as table

LEASE = timedelta(minutes=1)
NONE = timedelta(0)


def message(number: int = 1, **more: object) -> Message:
    fields = {"name": f"Người {number} 🧧", "lines": [{"name": "Phở", "total": 1}]}
    return Message(kind="welcome", recipient=f"nguoi{number}@khach.example", fields=fields, **more)  # type: ignore[arg-type]  # fields of it


async def keep(database: Database, *messages: Message, fails: bool = False) -> None:
    async def work(connection: AsyncConnection) -> None:
        for one in messages:
            await outbox.add(connection, one)
        if fails:
            raise ValueError("no order after all")

    await database.transaction(work)


@pytest.fixture
def box(database: Database) -> SqlOutbox:
    return SqlOutbox(database=database)


async def test_what_is_kept_comes_out_as_it_went_in(database: Database, box: SqlOutbox) -> None:
    told = message(expires_at=datetime(2030, 1, 1, tzinfo=UTC))
    await keep(database, told)
    (due,) = await box.take(10, lease=LEASE)
    assert (due.message, due.attempts) == (told, 1)


async def test_a_transaction_that_fails_sends_nothing(database: Database, box: SqlOutbox) -> None:
    with pytest.raises(ValueError, match="no order"):
        await keep(database, message(), fails=True)
    assert await box.take(10, lease=LEASE) == []


async def test_many_takers_at_once_get_each_message_once(database: Database, box: SqlOutbox) -> None:
    await keep(database, *(message(number) for number in range(50)))
    taken = Counter[str]()

    async def take_all() -> None:
        while due := await box.take(3, lease=LEASE):
            taken.update(one.id for one in due)

    await asyncio.gather(*(take_all() for _ in range(6)))
    assert len(taken) == 50
    assert set(taken.values()) == {1}


async def test_a_taker_that_dies_gives_its_messages_back(database: Database, box: SqlOutbox) -> None:
    await keep(database, message())
    (first,) = await box.take(1, lease=NONE)
    (again,) = await box.take(1, lease=LEASE)
    assert (again.id, again.attempts) == (first.id, 2)
    assert await box.take(1, lease=LEASE) == []


async def test_what_was_sent_is_over_and_its_facts_are_forgotten(database: Database, box: SqlOutbox) -> None:
    await keep(database, message())
    (due,) = await box.take(1, lease=NONE)
    await box.sent(due.id)
    await box.postpone(due.id, pause=NONE, why="a late word")
    await box.give_up(due.id, why="a late word")
    assert await box.take(1, lease=LEASE) == []
    assert await box.open() == []
    assert await box.revive() == 0
    row = await database.row(table.select())
    assert row is not None
    assert (row.fields, row.last_error) == (None, None)
    assert await box.forget(timedelta(hours=1)) == 0
    assert await box.forget(NONE) == 1


async def test_what_was_given_up_waits_for_an_operator(database: Database, box: SqlOutbox) -> None:
    await keep(database, message(1), message(2))
    due = await box.take(2, lease=NONE)
    for one in due:
        await box.give_up(one.id, why="SMTPRecipientsRefused 550")
    backlog = await box.backlog()
    assert (backlog.waiting, backlog.oldest_s, backlog.given_up) == (0, 0, 2)
    assert [one.last_error for one in await box.open()] == ["SMTPRecipientsRefused 550"] * 2
    assert await box.revive(due[0].id) == 1
    assert [one.attempts for one in await box.take(2, lease=NONE)] == [1]
    assert await box.revive() == 2
    backlog = await box.backlog()
    assert (backlog.waiting, backlog.given_up) == (2, 0)
    assert backlog.oldest_s > 0


async def test_what_is_postponed_waits(database: Database, box: SqlOutbox) -> None:
    await keep(database, message())
    (due,) = await box.take(1, lease=NONE)
    await box.postpone(due.id, pause=timedelta(hours=1), why="away")
    assert await box.take(1, lease=NONE) == []
    assert (await box.backlog()).waiting == 1
    (standing,) = await box.open()
    assert (standing.attempts, standing.last_error) == (1, "away")
