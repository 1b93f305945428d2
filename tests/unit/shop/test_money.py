"""Đồng have no decimals, and people read them in groups of three."""

from __future__ import annotations

import pytest

from app.shop.money import MOST, written


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0\u00a0₫"),
        (999, "999\u00a0₫"),
        (1000, "1.000\u00a0₫"),
        (1234568, "1.234.568\u00a0₫"),
        (-5000, "-5.000\u00a0₫"),
    ],
)
def test_an_amount_is_written_as_in_vietnam(amount: int, text: str) -> None:
    assert written(amount) == text


def test_the_largest_cart_fits_into_the_database() -> None:
    assert MOST * 99 * 100 < 2**63
