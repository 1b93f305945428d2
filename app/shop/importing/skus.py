"""SKUs: the file's own, or made up so that the same product gets the same one every time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from app.shop.importing.cells import one_line
from app.shop.importing.refusals import NotAccepted

SKU_MOST: Final = 64
"""Bytes: longer names of fields cost a session in Redis its compact form."""
_READABLE_MOST: Final = 40
_DIGEST_BYTES: Final = 5
"""40 bits: two of 100,000 made-up SKUs that also read alike do not meet by chance."""


def own(cell: str) -> str:
    """The SKU a file gives, empty when it gives none."""
    sku = one_line(cell)
    if len(sku.encode()) > SKU_MOST:
        raise NotAccepted(f"at most {SKU_MOST} bytes")
    return sku


def made_up(slug: str, values: Sequence[str]) -> str:
    """A SKU from what names the variant: the product's slug and its option values, in any order of rows."""
    told = "\x1f".join((slug, *values)).encode()
    digest = hashlib.blake2b(told, digest_size=_DIGEST_BYTES).hexdigest()
    return f"{slug[:_READABLE_MOST].strip('-')}-{digest}".upper()


class SeenSkus:
    """Where each SKU of a file stood, whatever its case; 16 bytes each, so that any file fits into memory."""

    def __init__(self) -> None:
        self._lines: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def earlier(self, sku: str, line: int) -> int | None:
        """The line that has this SKU already, or None, and then `line` has it."""
        key = hashlib.blake2b(sku.casefold().encode(), digest_size=16).digest()
        return None if (first := self._lines.setdefault(key, line)) == line else first
