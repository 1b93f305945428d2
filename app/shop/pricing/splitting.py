"""Splitting an amount so that nothing is lost: the parts always sum to the whole."""

from __future__ import annotations

from collections.abc import Sequence


def split(amount: int, weights: Sequence[int]) -> list[int]:
    """The amount in whole parts as the weights are, by largest remainder; of equal remainders the first.

    No part is larger than its weight unless the amount is larger than all of them together. Where all
    weights are 0 so are the parts, and only an amount of 0 can be split so.
    """
    if amount < 0 or any(weight < 0 for weight in weights):
        raise ValueError("neither an amount nor a weight can be negative")
    whole = sum(weights)
    if whole == 0:
        if amount:
            raise ValueError("an amount cannot be split over nothing")
        return [0] * len(weights)
    parts = [amount * weight // whole for weight in weights]
    remainders = [amount * weight % whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda at: (-remainders[at], at))
    for at in by_remainder[: amount - sum(parts)]:
        parts[at] += 1
    return parts
