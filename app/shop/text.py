"""What people type, made safe to keep: one Unicode form, no control characters, a bounded length."""

from __future__ import annotations

import unicodedata

from app.shop.errors import Invalid


def clean(field: str, value: str, *, most: int, least: int = 1) -> str:
    """The text in NFC without outer blanks; `Invalid` for what no database, header or page should see.

    `most` and `least` count characters after cleaning. Line breaks and tabs become blanks.
    """
    if any(unicodedata.category(char) in {"Cc", "Cs", "Cn"} and char not in "\t\r\n" for char in value):
        raise Invalid(field, "contains characters that are not text", code="not_text")
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if len(text) < least:
        raise Invalid(field, "must not be empty", code="missing")
    if len(text) > most:
        raise Invalid(field, f"must have at most {most} characters", code="too_long")
    return text
