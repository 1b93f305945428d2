"""What an order costs: whole đồng, and every sum is that of its lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.shop.errors import Invalid
from app.shop.money import MOST
from app.shop.pricing import (
    PROVINCES,
    Goods,
    KnownVoucher,
    Voucher,
    checked_voucher,
    discount_of,
    province_of,
    quoted,
    standard_charges,
    voucher_code,
)

NOW = datetime(2026, 11, 30, 17, tzinfo=UTC)
goods = st.lists(
    st.builds(
        Goods,
        sku=st.just("A"),
        quantity=st.integers(1, 99),
        unit_price=st.integers(0, MOST),
        grams=st.integers(0, 10**6),
    ),
    max_size=30,
)
limits = st.none() | st.integers(1, MOST)
fixed = st.builds(Voucher, code=st.just("A"), amount=st.integers(1, MOST), starts_at=st.just(NOW))
percents = st.builds(
    Voucher, code=st.just("A"), percent=st.integers(1, 100), at_most=limits, starts_at=st.just(NOW)
)


@given(goods, st.none() | st.sampled_from(PROVINCES), st.none() | fixed | percents)
def test_all_sums_are_those_of_the_lines_and_nothing_is_negative(
    goods: list[Goods], province: Any, voucher: Voucher | None
) -> None:
    quote = quoted(goods, standard_charges(), province=province, voucher=voucher)
    assert quote.subtotal == sum(line.total for line in quote.lines) == sum(line.total for line in goods)
    assert quote.discount == sum(line.discount for line in quote.lines) <= quote.subtotal
    assert quote.vat_included == sum(line.vat for line in quote.lines) + quote.shipping_vat <= quote.total
    assert quote.total == sum(line.total - line.discount for line in quote.lines) + quote.shipping_fee
    for line in quote.lines:
        assert 0 <= line.discount <= line.total
        assert 0 <= line.vat <= line.total - line.discount
    assert min(quote.subtotal, quote.discount, quote.shipping_fee, quote.shipping_vat, quote.total) >= 0
    assert all(isinstance(amount, int) for amount in (quote.total, quote.vat_included, quote.discount))


def one(price: int, quantity: int = 1) -> Goods:
    return Goods(sku="A", quantity=quantity, unit_price=price, grams=500)


def test_without_a_province_the_sums_hold_no_fee() -> None:
    quote = quoted([one(70_000, 2)], standard_charges())
    assert (quote.subtotal, quote.shipping_fee, quote.total, quote.vat_included) == (
        140_000,
        0,
        140_000,
        10_370,
    )


def test_a_voucher_can_cost_the_shopper_the_free_parcel() -> None:
    province, charges = province_of("Hà Nội"), standard_charges()
    off = Voucher(code="BOT", amount=1, starts_at=NOW)
    assert quoted([one(500_000)], charges, province=province).total == 500_000
    assert quoted([one(500_000)], charges, province=province, voucher=off).total == 519_999


def test_a_percentage_takes_no_part_of_a_dong_and_no_more_than_its_cap() -> None:
    ten = Voucher(code="MUOI", percent=10, starts_at=NOW)
    assert [discount_of(ten, goods) for goods in (0, 5, 9, 10, 19, 99_995)] == [0, 0, 0, 1, 1, 9_999]
    assert discount_of(replace(ten, at_most=5_000), 99_995) == 5_000
    assert discount_of(replace(ten, percent=100), 99_995) == 99_995


def test_a_fixed_voucher_takes_no_more_than_there_is() -> None:
    voucher = Voucher(code="NAM", amount=50_000, starts_at=NOW)
    assert [discount_of(voucher, goods) for goods in (0, 49_999, 50_001)] == [0, 49_999, 50_000]


@pytest.mark.parametrize(
    ("moment", "goods", "code"),
    [
        (NOW - timedelta(seconds=1), 100, "voucher_early"),
        (NOW + timedelta(days=1), 100, "voucher_ended"),
        (NOW, 99, "voucher_minimum"),
    ],
)
def test_a_voucher_is_good_within_its_time_and_from_its_minimum(
    moment: datetime, goods: int, code: str
) -> None:
    voucher = Voucher(code="A-1", amount=1, minimum=100, starts_at=NOW, ends_at=NOW + timedelta(days=1))
    known = KnownVoucher(voucher=voucher, used=5, used_by_customer=5)
    assert checked_voucher(known, goods=100, now=NOW) is voucher
    with pytest.raises(Invalid) as refused:
        checked_voucher(known, goods=goods, now=moment)
    assert (refused.value.field, refused.value.code) == ("voucher", code)


@pytest.mark.parametrize(
    ("used", "by_customer", "code"), [(10, 0, "voucher_used_up"), (9, 2, "voucher_used")]
)
def test_a_voucher_that_was_used_enough_is_refused(used: int, by_customer: int, code: str) -> None:
    voucher = Voucher(code="A-1", amount=1, starts_at=NOW, limit=10, limit_each=2)
    checked_voucher(KnownVoucher(voucher=voucher, used=9, used_by_customer=1), goods=1, now=NOW)
    with pytest.raises(Invalid) as refused:
        checked_voucher(
            KnownVoucher(voucher=voucher, used=used, used_by_customer=by_customer), goods=1, now=NOW
        )
    assert refused.value.code == code


def test_a_voucher_that_there_is_not_is_refused() -> None:
    with pytest.raises(Invalid):
        checked_voucher(None, goods=1, now=NOW)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"amount": 1, "percent": 1},
        {"amount": 0},
        {"percent": 0},
        {"percent": 101},
        {"amount": 1, "at_most": 1},
        {"percent": 1, "at_most": 0},
        {"amount": 1, "minimum": -1},
        {"amount": 1, "limit": 0},
        {"amount": 1, "limit_each": 0},
        {"amount": 1, "ends_at": NOW},
    ],
)
def test_what_is_no_voucher_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Voucher(code="SAI", starts_at=NOW, **wrong)


def test_a_code_is_one_however_it_is_typed() -> None:
    assert voucher_code(" tet-2027 ") == "TET-2027"
    for text in ("", "A", "AB", "-AB", "AB-", "A B C", "ĐƯỜNG", "A" * 33, "\0AB", "１２３"):
        with pytest.raises(Invalid):
            voucher_code(text)
