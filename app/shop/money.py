"""Whole đồng: an amount of money is an int, and there is nothing smaller."""

from __future__ import annotations

from typing import Final

CURRENCY: Final = "VND"

MOST: Final = 10**12
"""No price or total passes this, far inside a 64-bit column, so sums of lines cannot overflow."""


def written(amount: int) -> str:
    """The amount as people in Vietnam write it: ``1.234.568 ₫``, with a no-break space."""
    return f"{amount:,}".replace(",", ".") + "\u00a0₫"
