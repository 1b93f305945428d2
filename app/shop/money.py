"""Whole đồng: an amount of money is an int, and there is nothing smaller."""

from __future__ import annotations

from typing import Final

from app.shop.errors import Invalid

CURRENCY: Final = "VND"

MOST: Final = 10**12
"""No price or total passes this, far inside a 64-bit column, so sums of lines cannot overflow."""


def payable(name: str, amount: int) -> int:
    """The amount, or `Invalid` for one that passes `MOST`; the field is called `name`."""
    if amount > MOST:
        raise Invalid(name, f"must be at most {MOST} đồng", code="amount_large")
    return amount


def written(amount: int) -> str:
    """The amount as people in Vietnam write it: ``1.234.568 ₫``, with a no-break space."""
    return f"{amount:,}".replace(",", ".") + "\u00a0₫"
