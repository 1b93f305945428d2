"""Phone numbers as people write them."""

from __future__ import annotations

from typing import Final

from app.shop.errors import Invalid
from app.shop.text import clean

_BETWEEN: Final = " .-()/"


def checked_phone(field: str, text: str) -> str:
    """The number as it will be kept: its digits, and the plus where there was one; or `Invalid`."""
    phone = clean(field, text, most=30)
    digits = "".join(char for char in phone if char not in _BETWEEN).removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and 8 <= len(digits) <= 15):
        raise Invalid(field, "must have 8 to 15 digits", code="phone_invalid")
    return ("+" if "+" in phone else "") + digits
