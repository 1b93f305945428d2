"""Nothing is lost and nothing is made up when an amount is split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.shop.money import MOST
from app.shop.pricing.splitting import split
from app.shop.pricing.vat import vat_in

amounts = st.integers(0, MOST)
weights = st.lists(amounts, min_size=1, max_size=100)


@given(amounts, weights)
def test_the_parts_sum_to_the_whole_and_none_is_negative(amount: int, weights: list[int]) -> None:
    if not any(weights):
        amount = 0
    parts = split(amount, weights)
    assert sum(parts) == amount
    assert len(parts) == len(weights)
    assert all(part >= 0 for part in parts)


@given(weights, st.data())
def test_no_part_is_larger_than_its_line(weights: list[int], data: st.DataObject) -> None:
    parts = split(data.draw(st.integers(0, sum(weights))), weights)
    assert all(part <= weight for part, weight in zip(parts, weights, strict=True))


def test_a_hundred_thousand_dong_by_three_loses_no_dong() -> None:
    assert split(100_000, [1, 1, 1]) == [33_334, 33_333, 33_333]
    assert split(2, [1, 3, 3]) == [0, 1, 1]
    assert split(0, [0, 0]) == [0, 0]
    assert split(0, []) == []


@pytest.mark.parametrize(("amount", "weights"), [(-1, [1]), (1, [-1]), (1, [0]), (1, [])])
def test_what_cannot_be_split_is_refused(amount: int, weights: list[int]) -> None:
    with pytest.raises(ValueError, match="amount"):
        split(amount, weights)


@given(amounts, st.integers(0, 100))
def test_the_tax_in_an_amount_is_within_half_a_dong_of_the_exact_one(amount: int, percent: int) -> None:
    tax = vat_in(amount, percent)
    assert 0 <= tax <= amount
    assert abs(2 * (tax * (100 + percent) - amount * percent)) <= 100 + percent


def test_half_a_dong_of_tax_is_rounded_up() -> None:
    assert [vat_in(amount, 8) for amount in (0, 6, 7, 108, 100_000)] == [0, 0, 1, 8, 7_407]
    assert vat_in(1, 100) == 1
