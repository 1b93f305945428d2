"""The mail that a shop under test would send: written and read on the spot, without a server."""

from __future__ import annotations

import re
from datetime import timedelta

from app.clients.mail.config import LettersConfig
from app.clients.mail.letters import Letters
from app.shop.mail import Message
from app.stores.database import Database, DatabaseConfig
from app.stores.outbox import SqlOutbox
from app.wiring.people import preparations_of
from tests.web.conftest import ORIGIN, World

LETTERS = Letters(LettersConfig(sender="shop@chopho.example", public_url=ORIGIN))
_PATH = re.compile(re.escape(ORIGIN) + r"(/\S*\?token=\S+)")


async def delivered(world: World) -> list[tuple[Message, str]]:
    """Every mail that waits, as whoever it goes to gets it; then none waits any more."""
    database = Database(DatabaseConfig(url=world.database_url, pool_size=1))
    prepare = preparations_of(database)
    box = SqlOutbox(database=database)
    found: list[tuple[Message, str]] = []
    try:
        for due in await box.take(1000, lease=timedelta(minutes=5)):
            write = prepare.get(due.message.kind)
            message = due.message if write is None else await write(due.message)
            if message is not None:
                text = LETTERS.write(message, message_id=due.id).get_content()
                found.append((message, text.replace("\r\n", "\n")))
            await box.sent(due.id)
    finally:
        await database.close()
    return found


async def delivered_to(world: World, email: str) -> list[tuple[str, str]]:
    """Kind and text of each that went to that address, the oldest first."""
    return [(message.kind, text) for message, text in await delivered(world) if message.recipient == email]


def link_in(text: str) -> str:
    """The path of the link with a token."""
    found = _PATH.search(text)
    assert found, text
    return found[1]
