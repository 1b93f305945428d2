"""A mail server that speaks SMTP."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiosmtplib import (
    SMTP,
    SMTPDataError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPResponseException,
)

from app.clients.mail.config import SmtpConfig
from app.clients.mail.letters import Letters
from app.shop.errors import Unavailable
from app.shop.mail import Message, Undeliverable

_PERMANENT: Final = 500
"""RFC 5321: replies from here on are final, those below ask to come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpServer:
    """The mail server's port over SMTP, with a connection for each mail."""

    config: SmtpConfig
    letters: Letters

    async def send(self, message: Message, *, message_id: str) -> None:
        """Done once the server has answered the end of the data; how the connection ends is no matter any more."""
        letter = self.letters.write(message, message_id=message_id)
        client = self._client()
        try:
            async with asyncio.timeout(self.config.timeout.total_seconds()):
                await client.connect()
                await client.send_message(letter)
        except (SMTPException, OSError, TimeoutError) as failed:
            raise _refusal(failed) from failed
        finally:
            client.close()

    async def look(self) -> None:
        """Connect, log in, and go."""
        client = self._client()
        try:
            async with asyncio.timeout(self.config.timeout.total_seconds()):
                await client.connect()
        except (SMTPException, OSError, TimeoutError) as failed:
            raise Unavailable(_words(failed)) from failed
        finally:
            client.close()

    def _client(self) -> SMTP:
        config = self.config
        return SMTP(
            hostname=config.host,
            port=config.port,
            username=config.user,
            password=config.password,
            local_hostname=self.letters.domain,  # or each mail would ask the resolver for this machine's name
            timeout=config.timeout.total_seconds(),
            use_tls=config.tls == "from the start",
            start_tls={"from the start": False, "demanded": True, "if offered": None}[config.tls],
            tls_context=ssl.create_default_context(),
        )


def _refusal(failed: Exception) -> Unavailable | Undeliverable:
    """Only what the server said for good about this recipient or this text is final."""
    if isinstance(failed, SMTPNotSupported):
        return Undeliverable("the mail server does not take such an address")
    is_about_the_mail = isinstance(failed, SMTPRecipientsRefused | SMTPRecipientRefused | SMTPDataError)
    if is_about_the_mail and min(_codes(failed)) >= _PERMANENT:
        return Undeliverable(_words(failed))
    return Unavailable(f"the mail server ({_words(failed)})")


def _codes(failed: Exception) -> Sequence[int]:
    """What the server answered, to every recipient."""
    if isinstance(failed, SMTPRecipientsRefused):
        return [refused.code for refused in failed.recipients]
    return [failed.code] if isinstance(failed, SMTPResponseException) else []


def _words(failed: Exception) -> str:
    """What happened, without the server's words, which quote addresses."""
    return " ".join([type(failed).__name__, *map(str, _codes(failed))])
