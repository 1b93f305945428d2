"""What becomes of a guest's cart when the guest logs in and has a cart already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.shop.cart import LINE_LIMIT, LINES_LIMIT
from app.shop.catalog import Offer, Sku

Merging = Literal["sum", "max", "guest", "keep"]
"""Where both have a line: `sum` adds them, `max` takes the larger, `guest` the guest's, `keep` the account's.

All of them take the lines that only one side has.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """The lines of the account's cart that change, and the units by SKU that found no room in it."""

    changed: Mapping[Sku, int]
    left_out: Mapping[Sku, int]


def room_of(offers: Mapping[Sku, Offer], skus: Mapping[Sku, int]) -> Mapping[Sku, int]:
    """How many units a line may have: the stock, within the limit of a line.

    What is sold out or not sold now keeps its line, as everywhere in a cart, where it is shown as such.
    """
    return {
        sku: min(LINE_LIMIT, offers[sku].stock or LINE_LIMIT) if sku in offers else LINE_LIMIT for sku in skus
    }


def brought_in(
    guest: Mapping[Sku, int], kept: Mapping[Sku, int], how: Merging, *, room: Mapping[Sku, int]
) -> Brought:
    """The guest's lines brought into the kept ones; no line of the account's own gets shorter by want of room."""
    changed: dict[Sku, int] = {}
    left_out: dict[Sku, int] = {}
    free = LINES_LIMIT - len(kept)
    for sku, quantity in sorted(guest.items()):
        wanted = _wanted(quantity, kept.get(sku, 0), how)
        if sku not in kept:
            free -= 1
        most = max(kept.get(sku, 0), room[sku]) if sku in kept or free >= 0 else 0
        given = min(wanted, most)
        if given != kept.get(sku, 0):
            changed[sku] = given
        if given < wanted:
            left_out[sku] = wanted - given
    return Brought(changed=changed, left_out=left_out)


def _wanted(guest: int, kept: int, how: Merging) -> int:
    if not kept or how == "guest":
        return guest
    return {"sum": guest + kept, "max": max(guest, kept), "keep": kept}[how]
