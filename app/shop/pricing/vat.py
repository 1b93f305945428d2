"""The value-added tax that a price in Vietnam's shops includes already."""

from __future__ import annotations


def vat_in(amount: int, percent: int) -> int:
    """How much of an amount is tax, rounded to the nearest đồng, half a đồng up."""
    divisor = 100 + percent
    return (2 * amount * percent + divisor) // (2 * divisor)
