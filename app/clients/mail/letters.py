"""Writing a mail: from what is told to the text of RFC 5322, in the reader's language."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import Path
from typing import Final

from email_validator import validate_email
from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound

from app.clients.mail.config import LettersConfig, sender_of
from app.shop.errors import Unavailable
from app.shop.mail import Message, Undeliverable
from app.shop.money import written

_TEMPLATES: Final = Path(__file__).parent / "templates"
_LINKS: Final = re.compile(r"\S[./:@]\S|[<>\[\]]")
"""What mail programs make links of: a name must not bring somebody else's into a mail of ours."""


class Letters:
    """Writes mails. Raises `ValueError` for a sender that is no address."""

    def __init__(self, config: LettersConfig) -> None:
        self._sender = sender_of(config.sender)
        self._environment = _environment(config.public_url)

    @property
    def domain(self) -> str:
        """The sender's own domain in ASCII."""
        return self._sender.domain

    def write(self, message: Message, *, message_id: str) -> EmailMessage:
        """The mail as it is sent.

        Raises `Undeliverable` for what cannot be written, `Unavailable` for a kind that another release knows.
        """
        try:
            text = self._environment.get_template(f"{message.language}/{message.kind}.txt").render(
                message.fields
            )
        except TemplateNotFound as unknown:
            raise Unavailable(f"this release, which has no mail {message.kind},") from unknown
        except (TemplateError, TypeError) as unwritable:
            raise Undeliverable(f"a mail {message.kind} cannot be written: {unwritable}") from unwritable
        subject, _, body = text.partition("\n\n")
        try:
            return self._letter(message, subject, body, message_id)
        except (ValueError, MessageError) as unusable:  # a line break in a header, an address that is none
            raise Undeliverable(f"a mail {message.kind} cannot be addressed") from unusable

    def _letter(self, message: Message, subject: str, body: str, message_id: str) -> EmailMessage:
        letter = EmailMessage(SMTP)
        letter["From"] = self._sender
        letter["To"] = _address(message.recipient)
        letter["Subject"] = subject
        letter["Date"] = format_datetime(datetime.now(UTC))
        letter["Message-ID"] = f"<{message_id}@{self.domain}>"
        letter["Auto-Submitted"] = "auto-generated"  # RFC 3834: no holiday notice is an answer to it
        letter.set_content(body, cte="base64")
        letter["Content-Language"] = message.language
        return letter


def _address(text: str) -> Address:
    """One address and nothing else, whatever is in the text: no name, no second one, no further header."""
    found = validate_email(text, check_deliverability=False)
    return Address("", found.local_part, found.ascii_domain)


def _environment(public_url: str) -> Environment:
    environment = Environment(  # noqa: S701 -- plain text has nothing to escape
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(money=written, link=lambda path: public_url + path, harmless=_harmless)
    return environment


def _harmless(name: str) -> str:
    """A person's name, or nothing where it would be read as a link."""
    return "" if _LINKS.search(name) else name
