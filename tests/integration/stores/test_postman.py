"""Mail over a real SMTP server: at least once, one at a time for each, and no page ever waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import generate_latest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.resilience import Bulkhead, BulkheadConfig
from app.settings import Settings, read
from app.shop.errors import Unavailable
from app.shop.mail import MailServer, Message
from app.stores import outbox
from app.stores.database import Database
from app.stores.outbox import SqlOutbox
from app.stores.postman import MailEvent, Postman, PostmanConfig
from app.wiring import build
from tests.integration.mail_servers import Mailbox, mail_server

QUICK = PostmanConfig(
    timeout=timedelta(seconds=20),
    first_wait=timedelta(milliseconds=20),
    longest_wait=timedelta(milliseconds=100),
    look_every=timedelta(milliseconds=20),
    count_every=timedelta(milliseconds=50),
)


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with mail_server() as mailbox:
        yield mailbox


async def keep(database: Database, number: int = 1, *, expires_at: datetime | None = None) -> None:
    message = Message(
        kind="welcome",
        recipient=f"nguoi{number}@khach.example",
        fields={"name": f"Nguyễn Thị Ánh {number} 🧧"},
        expires_at=expires_at,
    )

    async def work(connection: AsyncConnection) -> None:
        await outbox.add(connection, message)

    await database.transaction(work)


@asynccontextmanager
async def postman(
    database: Database, server: MailServer, *, config: PostmanConfig = QUICK, box: SqlOutbox | None = None
) -> AsyncIterator[tuple[Postman, list[MailEvent]]]:
    """A postman at work, and what came of each attempt."""
    events: list[MailEvent] = []
    slots = Bulkhead("mail", BulkheadConfig(max_concurrent_calls=4))
    one = Postman(
        box or SqlOutbox(database=database), server, slots, config=config, listeners=[events.append]
    )
    work = asyncio.create_task(one.run())
    try:
        yield one, events
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def until(ready: Callable[[], bool]) -> None:
    """Return once it holds; a busy machine gets its time."""
    async with asyncio.timeout(60):
        while not ready():  # noqa: ASYNC110 -- what is looked at tells nobody
            await asyncio.sleep(0.02)


async def test_a_mail_arrives_as_it_was_meant(database: Database, mailbox: Mailbox) -> None:
    await keep(database)
    async with postman(database, mailbox.sender()) as (_, events):
        await until(lambda: bool(events))
    (letter,) = mailbox.letters
    assert mailbox.recipients == ["nguoi1@khach.example"]
    assert letter["Subject"] == "Chào mừng bạn đến với Chợ Phố"
    assert "Nguyễn Thị Ánh 1 🧧" in letter.get_content()
    assert [event.outcome for event in events] == ["sent"]


async def test_postmen_of_several_replicas_send_each_mail_once_and_few_at_a_time(
    database: Database, mailbox: Mailbox
) -> None:
    for number in range(30):
        await keep(database, number)
    mailbox.delay_s = 0.02
    async with AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(postman(database, mailbox.sender()))
        await until(lambda: len(mailbox.letters) >= 30)
        await asyncio.sleep(0.2)
    assert sorted(mailbox.recipients) == sorted(f"nguoi{number}@khach.example" for number in range(30))
    assert mailbox.most_at_once <= 12


async def test_a_dead_mail_server_postpones_mail_and_nothing_is_lost(database: Database) -> None:
    async with mail_server() as mailbox:
        sender = mailbox.sender()
    await keep(database)
    async with postman(database, sender) as (busy, events):
        await until(lambda: len(events) >= 2)
        await until(lambda: busy.backlog.waiting == 1)
        with pytest.raises(Unavailable):
            await sender.look()
    assert {event.outcome for event in events} == {"postponed"}
    (standing,) = await SqlOutbox(database=database).open()
    assert standing.last_error is not None
    assert "khach.example" not in standing.last_error
    await SqlOutbox(
        database=database
    ).revive()  # instead of waiting for the end of an attempt that was cut off
    async with mail_server() as mailbox, postman(database, mailbox.sender()):
        await until(lambda: bool(mailbox.letters))


async def test_a_mail_server_that_hangs_keeps_its_own_slots_and_no_more(
    database: Database, mailbox: Mailbox
) -> None:
    for number in range(6):
        await keep(database, number)
    mailbox.delay_s = 3600
    async with postman(database, mailbox.sender(timeout_s=0.5)) as (_, events):
        await until(lambda: len(events) >= 6)
    assert {event.outcome for event in events} == {"postponed"}


@pytest.mark.parametrize("reply", ["450 come again", "451 busy"])
async def test_a_server_that_asks_to_come_again_is_asked_again(
    database: Database, mailbox: Mailbox, reply: str
) -> None:
    await keep(database)
    mailbox.refused = reply
    async with postman(database, mailbox.sender()) as (_, events):
        await until(lambda: len(events) >= 2)
        mailbox.refused = None
        await until(lambda: bool(mailbox.letters))
        await until(lambda: events[-1].outcome == "sent")


async def test_what_the_server_refuses_for_good_is_given_up_at_once_and_loudly(
    database: Database, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    await keep(database)
    mailbox.refused = "550 5.1.1 nguoi1@khach.example does not exist"
    async with postman(database, mailbox.sender()) as (busy, events):
        await until(lambda: bool(events))
        await until(lambda: busy.backlog.given_up == 1)
    assert [event.outcome for event in events] == ["given_up"]
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "is given up: SMTPRecipientsRefused 550" in record.getMessage()
    assert "khach.example" not in record.getMessage()


async def test_after_the_last_attempt_a_mail_is_given_up_loudly(
    database: Database, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    await keep(database)
    mailbox.answer = "451 not today"
    few = PostmanConfig(
        first_wait=QUICK.first_wait, longest_wait=QUICK.longest_wait, look_every=QUICK.look_every, tries=3
    )
    async with postman(database, mailbox.sender(), config=few) as (_, events):
        await until(lambda: len(events) >= 3)
        await asyncio.sleep(0.2)
    assert [event.outcome for event in events] == ["postponed", "postponed", "given_up"]
    assert any("3 attempts" in record.getMessage() for record in caplog.records)


async def test_a_mail_whose_time_is_over_is_not_sent(database: Database, mailbox: Mailbox) -> None:
    await keep(database, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    async with postman(database, mailbox.sender()) as (_, events):
        await until(lambda: bool(events))
    assert [event.outcome for event in events] == ["expired"]
    assert mailbox.letters == []


async def test_a_crash_between_sending_and_booking_sends_it_again_under_the_same_id(
    database: Database, mailbox: Mailbox
) -> None:
    class Crashing(SqlOutbox):
        """Dies with what it knows once the mail was taken on."""

        async def sent(self, message_id: str) -> None:
            raise Unavailable(f"whoever sent {message_id}")

    await keep(database)
    hasty = PostmanConfig(timeout=timedelta(seconds=1), look_every=QUICK.look_every)
    async with postman(database, mailbox.sender(), config=hasty, box=Crashing(database=database)) as (
        _,
        events,
    ):
        await until(lambda: len(mailbox.letters) == 1)
        await asyncio.sleep(0.1)
        assert events == []
    assert await SqlOutbox(database=database).revive() == 1  # instead of waiting for the end of the lease
    async with postman(database, mailbox.sender()) as (_, events):
        await until(lambda: bool(events))
    first, second = mailbox.letters
    assert first["Message-ID"] == second["Message-ID"]
    assert [event.outcome for event in events] == ["sent"]
    assert await SqlOutbox(database=database).open() == []


async def test_one_mail_that_breaks_us_keeps_the_others_from_nothing(
    database: Database, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    sender = mailbox.sender()

    class Broken:
        """Makes a mistake with one of them."""

        async def send(self, message: Message, *, message_id: str) -> None:
            if message.recipient.startswith("nguoi1@"):
                raise KeyError(message.kind)
            await sender.send(message, message_id=message_id)

        async def look(self) -> None:
            """Well."""

    await keep(database, 1)
    await keep(database, 2)
    async with postman(database, Broken()):
        await until(lambda: mailbox.recipients == ["nguoi2@khach.example"])
        await until(lambda: "could not be handled" in caplog.text)
        await keep(database, 3)
        await until(lambda: len(mailbox.recipients) == 2)


async def test_an_address_in_vietnamese_is_reached(mailbox: Mailbox) -> None:
    await mailbox.sender().send(
        Message(kind="welcome", recipient="ánh@khách.example", fields={"name": "A"}), message_id="1"
    )
    assert mailbox.recipients == ["ánh@xn--khch-6na.example"]


async def test_a_replica_sends_what_its_shop_has_to_tell_and_shows_it(
    database_url: str, redis_url: str, mailbox: Mailbox
) -> None:
    given = {
        "DATABASE_URL": database_url,
        "SESSION_URL": redis_url,
        "REDIS_URL": redis_url,
        "SECRET_KEYS": "k" * 32,
        "PUBLIC_URL": "https://chopho.example",
        "MAIL_URL": f"smtp://127.0.0.1:{mailbox.port}",
        "MAIL_FROM": "Chợ Phố <shop@chopho.example>",
    }
    parts = build(read(Settings, {f"CHOPHO_{name}": value for name, value in given.items()}))
    async with parts.running():
        await parts.shop.register(
            email="ánh@khach.example", password="mat-khau-dai", name="Ánh", language="en"
        )
        await until(lambda: bool(mailbox.letters))
        (letter,) = mailbox.letters
        assert letter["From"] == "Chợ Phố <shop@chopho.example>"
        assert letter["Subject"] == "Welcome to Chợ Phố"
        metrics = generate_latest(parts.observability.registry).decode()
    assert "mail_waiting" in metrics
    assert "mail" in [row["name"] for row in parts.observability.compartments.rows()]


def test_a_replica_without_a_mail_server_says_so_and_lets_mail_wait(
    caplog: pytest.LogCaptureFixture, redis_url: str, database_url: str
) -> None:
    given = {
        "CHOPHO_DATABASE_URL": database_url,
        "CHOPHO_SESSION_URL": redis_url,
        "CHOPHO_REDIS_URL": redis_url,
        "CHOPHO_SECRET_KEYS": "k" * 32,
        "CHOPHO_PUBLIC_URL": "https://chopho.example",
    }
    assert build(read(Settings, given)).postman is None
    assert "mail waits in the outbox" in caplog.text
