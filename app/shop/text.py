"""What people type, made safe to keep."""

from __future__ import annotations

import unicodedata
from typing import Final

from app.shop.errors import Invalid

_BLANKS: Final = frozenset("\t\r\n")
_TURNS: Final = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Characters that turn the writing direction: with them a name reads as another one."""

_UNSEEN: Final = frozenset({"Cf", "Mn", "Zl", "Zp", "Zs"})


def clean(field: str, value: str, *, most: int, least: int = 1) -> str:
    """The text in NFC without outer blanks; `Invalid` for what no database, header or page should see.

    `most` and `least` count characters after cleaning. Line breaks and tabs become blanks.
    """
    if len(value) > 4 * most:  # composing shortens no text of any language further than this
        raise Invalid(field, f"must have at most {most} characters", code="too_long")
    if not all(_is_text(char) for char in value):
        raise Invalid(field, "contains characters that are not text", code="not_text")
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if len(text) < least or (text and all(unicodedata.category(char) in _UNSEEN for char in text)):
        raise Invalid(field, "must not be empty", code="missing")
    if len(text) > most:
        raise Invalid(field, f"must have at most {most} characters", code="too_long")
    return text


def _is_text(char: str) -> bool:
    """Whether people write it: no control, surrogate, noncharacter or turn of direction.

    Unassigned code points pass: tomorrow's emoji are unassigned in today's tables.
    """
    code = ord(char)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF or char in _TURNS:
        return False
    return char in _BLANKS or unicodedata.category(char) not in {"Cc", "Cs"}


def storable(text: str, *, most: int = 1000) -> bool:
    """Whether a database could hold it at all; what it cannot hold, it does not have."""
    return len(text) <= most and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
