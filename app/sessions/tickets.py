"""Tickets: what names a session. The browser holds it signed, the store sees only its hash."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from itsdangerous import BadSignature, Signer
from itsdangerous.encoding import base64_decode, base64_encode

_LONGEST: Final = 4096
_KEY_BYTES: Final = 32

REMEMBERED: Final = 2048
"""Cookies whose arithmetic is remembered: the shoppers of a few minutes, at about a kilobyte each."""

LONG: Final = 1024
"""Bytes; what is longer is not remembered, or far fewer of it, so that nobody fills the memory with it."""


def derived_keys(keys: Sequence[str], purpose: str) -> list[bytes]:
    """One key per given key, for this purpose alone; raises `ValueError` for weak ones."""
    if not keys or any(len(key.encode()) < _KEY_BYTES for key in keys):
        raise ValueError(f"keys: at least one, each of {_KEY_BYTES} bytes or more")
    return [
        HKDF(hashes.SHA256(), _KEY_BYTES, salt=None, info=purpose.encode()).derive(key.encode())
        for key in keys
    ]


class SignedSeal:
    """Signs tickets with the first key and accepts those of every key."""

    def __init__(self, keys: Sequence[str]) -> None:
        derived = derived_keys(keys, "session cookie")
        # itsdangerous signs with the last key of its list.
        self._signer = Signer(derived[::-1], key_derivation="none", digest_method=hashlib.sha256)

    def close(self, ticket: str) -> str:
        """The ticket and its signature."""
        return self._signer.sign(ticket).decode()

    def open(self, value: bytes) -> str | None:
        """The ticket, None for anything that was not signed here."""
        if len(value) > _LONGEST:
            return None
        try:
            ticket = self._signer.unsign(value).decode("ascii")
        except (BadSignature, UnicodeDecodeError):
            return None
        # Base64 is read leniently: the same signature could be written in many ways.
        signature = value.rpartition(b".")[2]
        return ticket if base64_encode(base64_decode(signature)) == signature else None


def new_ticket(kind: str, namespace: str, user: str | None) -> str:
    """A ticket of 256 random bits that carries the user's reference."""
    return f"{kind}.{secrets.token_urlsafe(32)}.{user_ref(namespace, user) if user else ''}"


def session_id(ticket: str) -> str:
    """What the store sees of a ticket: SHA-256 of its random part."""
    return hashlib.sha256(ticket.split(".", 2)[1].encode()).hexdigest()


def ref_of(ticket: str) -> str:
    """The reference of the ticket's user; empty while nobody is logged in."""
    return ticket.rpartition(".")[2]


def user_ref(namespace: str, user: str) -> str:
    """An opaque name of a user that every key rotation leaves as it is."""
    digest = hashlib.sha256(f"{namespace}\0{user}".encode()).digest()
    return urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
