"""What a voucher may be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.shop.errors import Invalid
from app.shop.money import MOST
from app.shop.pricing import Voucher, bounded, discount_of


def voucher(**terms: Any) -> Voucher:
    return Voucher(**{"code": "TET-2027", "starts_at": datetime(2027, 1, 20, tzinfo=UTC), **terms})


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"amount": MOST + 1}, "amount"),
        ({"percent": 9, "at_most": MOST + 1}, "at_most"),
        ({"amount": 1, "minimum": 10**30}, "minimum"),
        ({"amount": 1, "limit": 2**31}, "limit"),
        ({"amount": 1, "limit_each": 1_000_000}, "limit_each"),
    ],
)
def test_a_new_voucher_has_no_number_that_is_larger_than_any_of_the_shop(
    terms: dict[str, int], field: str
) -> None:
    with pytest.raises(Invalid, match="must be at most") as refused:
        bounded(voucher(**terms))
    assert refused.value.field == field


def test_the_largest_voucher_takes_off_what_the_goods_are_worth() -> None:
    largest = bounded(voucher(amount=MOST, minimum=MOST, limit=999_999, limit_each=999_999))
    assert discount_of(largest, 70_000) == 70_000
