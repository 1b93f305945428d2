"""What may name a user: a mistake in the app must not log people in as nobody, or several as one."""

from __future__ import annotations

import unicodedata
from typing import Final

from .errors import BadUser

_LONGEST: Final = 256
"""Bytes: an e-mail address has 254 at most, the subject of an OpenID provider 255."""

_UNPRINTED: Final = frozenset({"Cc", "Cs"})
"""Control characters, and halves of surrogate pairs, which UTF-8 cannot say."""


def checked_user(user: object) -> str:
    """The id of a user as the app names it; raises `BadUser` for what can name nobody."""
    if not isinstance(user, str):
        raise BadUser(f"is text, not {type(user).__name__}")
    if not user.strip():
        raise BadUser("is not empty or blank")
    # Most ids are plain, and one is looked at with every read of a session.
    plain = user.isascii() and user.isprintable()
    if not plain and any(unicodedata.category(letter) in _UNPRINTED for letter in user):
        raise BadUser("has no control characters")
    if len(user.encode()) > _LONGEST:
        raise BadUser(f"has at most {_LONGEST} bytes")
    return user
