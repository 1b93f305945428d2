"""Mail for a shop under development: shown instead of sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from app.clients.mail.letters import Letters
from app.shop.mail import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """The mail server's port as a line of JSON for each mail. It holds whatever the mail does, tokens too."""

    letters: Letters
    say: Callable[[bytes], None]

    async def send(self, message: Message, *, message_id: str) -> None:
        """Show it."""
        letter = self.letters.write(message, message_id=message_id)
        told = {
            "level": "info",
            "message": "mail",
            "kind": message.kind,
            "to": letter["To"],
            "subject": letter["Subject"],
            "text": letter.get_content().replace("\r\n", "\n"),
        }
        self.say(json.dumps(told, ensure_ascii=False).encode() + b"\n")

    async def look(self) -> None:
        """There is always a console."""
