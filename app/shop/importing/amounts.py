"""Prices and stocks as files write them; whatever could be read in two ways is refused."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from app.shop.importing.refusals import NotAccepted
from app.shop.importing.terms import Terms
from app.shop.money import CURRENCY, MOST

STOCK_MOST: Final = 10**9
"""Far inside a 32-bit column, and more than any shelf holds."""

GRAMS_MOST: Final = 10**6
"""A ton; no parcel weighs as much."""

_WHOLE: Final = re.compile(r"([0-9]{1,15})(?:\.0{1,2})?", re.ASCII)
_OVERSOLD: Final = re.compile(r"-[0-9]{1,9}")
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,4})?", re.ASCII)


def price(cell: str, terms: Terms) -> tuple[int, bool]:
    """The price in whole đồng, and whether it was rounded; ``1.000`` and ``1,000`` may mean two prices each."""
    exact = _exact(cell, terms)
    whole = (exact * terms.rate).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    if whole > MOST:
        raise NotAccepted(f"a price of at most {MOST} đồng")
    return int(whole), whole != exact * terms.rate


def _exact(cell: str, terms: Terms) -> Decimal:
    if terms.decimals == 0:
        found = _WHOLE.fullmatch(cell)
        if found is None:
            raise NotAccepted(_whole_price(terms))
        return Decimal(found[1])
    written = _DECIMAL.fullmatch(cell)
    if written is None or len(cell.partition(".")[2]) > terms.decimals:
        example = "49." + "9" * terms.decimals
        raise NotAccepted(f"an amount of {terms.currency} in plain digits such as {example}")
    return Decimal(cell)


def _whole_price(terms: Terms) -> str:
    if terms.currency == CURRENCY:
        return "whole đồng in plain digits such as 199000 (another currency needs --currency and --rate)"
    return f"whole {terms.currency} in plain digits such as 1200"


def stock(cell: str) -> int:
    """Units in stock; what was sold past zero elsewhere has none here."""
    if _OVERSOLD.fullmatch(cell):
        return 0
    found = _WHOLE.fullmatch(cell)
    if found is None or int(found[1]) > STOCK_MOST:
        raise NotAccepted(f"a whole number of units from 0 to {STOCK_MOST} in plain digits such as 1000")
    return int(found[1])


def grams(cell: str) -> int:
    """What one weighs."""
    found = _WHOLE.fullmatch(cell)
    if found is None or int(found[1]) > GRAMS_MOST:
        raise NotAccepted(f"a whole number of grams from 0 to {GRAMS_MOST} in plain digits such as 500")
    return int(found[1])
