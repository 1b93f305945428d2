"""A real SMTP server in the test's own loop, which can be told how to behave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP

from app.clients.mail.config import LettersConfig, SmtpConfig
from app.clients.mail.letters import Letters
from app.clients.mail.smtp import SmtpServer
from tests.conftest import free_port

LETTERS = LettersConfig(sender="Chợ Phố <shop@chopho.example>", public_url="https://chopho.example")


@dataclass
class Mailbox:
    """What the server took on, in order; `answer` is what it says to each mail, after `delay_s`."""

    port: int
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    answer: str = "250 OK"
    refused: str | None = None
    delay_s: float = 0.0
    at_once: int = 0
    most_at_once: int = 0

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's name
        self, _server: SMTP, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        if self.refused is not None:
            return self.refused
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Any, envelope: Any) -> str:  # noqa: N802
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.delay_s)
        self.at_once -= 1
        if self.answer.startswith("250"):
            letter = message_from_bytes(envelope.content, policy=default)
            assert isinstance(letter, EmailMessage)
            self.letters.append(letter)
            self.recipients.extend(envelope.rcpt_tos)
        return self.answer

    def sender(self, *, timeout_s: float = 20) -> SmtpServer:
        """Our side of it."""
        config = SmtpConfig.parse(f"smtp://127.0.0.1:{self.port}")
        config = replace(config, timeout=timedelta(seconds=timeout_s))
        return SmtpServer(config=config, letters=Letters(LETTERS))


@asynccontextmanager
async def mail_server() -> AsyncIterator[Mailbox]:
    """A server that takes on everything, until told otherwise."""
    mailbox = Mailbox(port=free_port())
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(mailbox, enable_SMTPUTF8=True, hostname="mail.example"), "127.0.0.1", mailbox.port
    )
    try:
        yield mailbox
    finally:
        server.close()
        await server.wait_closed()
