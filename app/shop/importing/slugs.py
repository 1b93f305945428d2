"""Path segments for handles and categories of any language."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from app.shop.vietnamese import folded, slugged

_IS_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)


def path_segment(text: str) -> str:
    """ASCII letters, digits and dashes; what is one already stays.

    Where letters have no ASCII form, or nothing else is left, a digest of them tells two texts apart.
    """
    if _IS_SLUG.fullmatch(text):
        return text
    segment = slugged(text)
    if segment and not any(char.isalnum() and not char.isascii() for char in folded(text)):
        return segment
    digest = hashlib.blake2b(folded(text).encode(), digest_size=4).hexdigest()
    return f"{segment}-{digest}".strip("-")
