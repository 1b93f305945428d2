"""Stock that comes and goes by other ways than orders, each time with a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol, get_args

from app.shop.catalog import Sku
from app.shop.desk.audit import Deed
from app.shop.errors import Invalid
from app.shop.paging import Page
from app.shop.text import clean

Reason = Literal["received", "counted", "returned", "damaged", "lost", "other"]

QUANTITY_MOST: Final = 1_000_000
STOCK_MOST: Final = 2_000_000_000
"""What the column holds, with room for one more movement."""

NOTE_MOST: Final = 300

_SIGNED: Final = re.compile(r"[+\-−]?[0-9]{1,7}")
"""ASCII digits behind at most one sign, which may be the true minus that spreadsheets write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One change of a stock: by how many units, and how many there were afterwards."""

    at: datetime
    sku: Sku
    quantity: int
    stock: int
    reason: Reason
    note: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stocked:
    """A variant and what is left of it."""

    sku: Sku
    slug: str
    name: str
    stock: int


class Stock(Protocol):
    """The stock at the desk. Raises `Unavailable`."""

    async def find(self, sku: Sku) -> Stocked | None:
        """The variant, or None."""

    async def move(self, sku: Sku, quantity: int, deed: Deed, *, reason: Reason, note: str) -> None:
        """Add so many units (or take, below 0) to whatever is there at that moment, with its audit entry.

        Sales go on meanwhile, and none is undone. Raises `NotFound`, `AlreadyDone`, and `OutOfStock` where
        fewer are left than are taken.
        """

    async def history(self, sku: Sku, *, page: int, page_size: int) -> Page[Movement]:
        """The movements of that SKU, newest first; also of one that is gone."""

    async def low(self, *, most: int) -> Sequence[Stocked]:
        """Visible variants that are counted and nearly or wholly sold out, the least first."""


def checked_movement(*, quantity: str, reason: str, note: str) -> tuple[int, Reason, str]:
    """The movement as it will be kept, or `Invalid`; a sign before the digits is needed to take."""
    typed = quantity.strip()
    if not _SIGNED.fullmatch(typed) or not 0 < abs(moved := int(typed.replace("−", "-"))) <= QUANTITY_MOST:
        raise Invalid("quantity", f"must be 1 to {QUANTITY_MOST}, with - to take", code="movement_invalid")
    return moved, _reason(reason), clean("note", note, most=NOTE_MOST, least=0)


def _reason(text: str) -> Reason:
    for known in get_args(Reason):
        if text == known:
            chosen: Reason = known
            return chosen
    raise Invalid("reason", f"must be one of {', '.join(get_args(Reason))}", code="invalid")
