"""Whether the secrets are hard to guess, and each is for one thing."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Subject
from app.settings import Settings

_WORDS: Final = re.compile(
    r"change.?me|secret|passw|example|default|test|chopho|qwerty|letmein|abcdef|123456", re.IGNORECASE
)
_FEWEST_CHARACTERS: Final = 12
"""Different characters in a key; 32 random bytes in hexadecimal have 13 or more all but always."""


async def _look(subject: Subject) -> Sequence[Fault]:
    settings = subject.one
    return [*_weak(settings), *_shared(settings), *_differing(subject)]


def _weak(settings: Settings) -> Sequence[Fault]:
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"key {number} of CHOPHO_SECRET_KEYS can be guessed: {reason}",
            mend="make one with openssl rand -hex 32 and rotate to it with chopho secrets rotate",
        )
        for number, key in enumerate(settings.secret_keys, 1)
        if (reason := weakness(key))
    ]


def weakness(key: str) -> str | None:
    """Why the key can be guessed; None where nothing speaks for it. The key itself is never told."""
    if _WORDS.search(key):
        return "it holds a word that is in every list"
    if len(set(key)) < _FEWEST_CHARACTERS:
        return f"it has only {len(set(key))} different characters"
    if len(zlib.compress(key.encode())) < len(key.encode()) * 0.8:
        return "it repeats itself"
    return None


def _shared(settings: Settings) -> Sequence[Fault]:
    passwords = {
        name: urlsplit(url).password
        for name, url in (
            ("CHOPHO_DATABASE_URL", settings.database_url),
            ("CHOPHO_SESSION_URL", settings.session_url),
            ("CHOPHO_REDIS_URL", settings.redis_url),
        )
    }
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"the password of {name} also is a key of CHOPHO_SECRET_KEYS",
            mend="give each its own secret: who reads a database's password must not be able to sign cookies",
        )
        for name, password in passwords.items()
        if password in settings.secret_keys
    ]


def _differing(subject: Subject) -> Sequence[Fault]:
    """A cookie that one replica signs must be good at every other."""
    strangers = [
        f"{name} does not accept what {signer} signs"
        for signer, signing in subject.settings.items()
        for name, accepting in subject.settings.items()
        if signing.secret_keys[0] not in accepting.secret_keys
    ]
    return [
        Fault(severity=Severity.ERROR, what=stranger, mend="give all replicas the same CHOPHO_SECRET_KEYS")
        for stranger in strangers[:1]
    ]


SECRET_KEYS = Check(
    name="secret-keys",
    why="who knows a key signs cookies as the shop does; and replicas with different keys log shoppers out "
    "with every request that reaches the other one",
    look=_look,
)
