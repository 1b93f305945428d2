"""What sending mail needs to know, read from what an operator writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from email.headerregistry import Address
from email.utils import parseaddr
from typing import Final, Literal, Self
from urllib.parse import unquote, urlsplit

CONSOLE: Final = "console:"

Tls = Literal["from the start", "demanded", "if offered"]

_PORTS: Final = {"smtp": 587, "smtps": 465}
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LettersConfig:
    """`sender` is an address, with a name if so wished; links lead into `public_url`."""

    sender: str
    public_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpConfig:
    """Where the mail server is, and who we are to it; one mail takes no longer than `timeout`."""

    host: str
    port: int
    tls: Tls
    user: str | None = None
    password: str | None = None
    timeout: timedelta = timedelta(seconds=20)

    @classmethod
    def parse(cls, url: str) -> Self:
        """From ``smtp://user:password@host:port`` or ``smtps://…``; raises `ValueError`.

        A password never travels in the clear, except within this machine.
        """
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:  # whose words would repeat what may be part of a password
            port = 0
        is_server = (
            parts.scheme in _PORTS and parts.hostname and not parts.path.strip("/") and not parts.query
        )
        if not parts.hostname or not is_server or port == 0:
            raise ValueError("wants smtp://user:password@host:port, smtps://… or console:")
        if (parts.username is None) != (parts.password is None):
            raise ValueError("wants a user and a password, or neither")
        is_guarded = parts.username is not None and parts.hostname not in _HERE
        return cls(
            host=parts.hostname,
            port=port or _PORTS[parts.scheme],
            tls="from the start" if parts.scheme == "smtps" else "demanded" if is_guarded else "if offered",
            user=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
        )


def mail_url(text: str) -> str:
    """The text if it says where mail goes; raises `ValueError`."""
    if text != CONSOLE:
        SmtpConfig.parse(text)
    return text


def sender_of(text: str) -> Address:
    """The sender's name and address; raises `ValueError`."""
    name, address = parseaddr(text)
    local, _, domain = address.rpartition("@")
    if not (local and domain and local.isascii() and text.isprintable()):
        raise ValueError("wants an address such as Chợ Phố <shop@chopho.example>")
    return Address(name, local, domain.encode("idna").decode())
