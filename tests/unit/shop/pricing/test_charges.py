"""Fees by province and weight, and a table that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.shop.pricing import PROVINCES, ChargesRefused, charges, parsed_charges, province_of, standard_charges

SHIPPED = Path(charges.__file__).with_name("charges.toml").read_text(encoding="utf-8")


def test_the_rates_that_ship_know_every_province() -> None:
    for province in PROVINCES:
        assert standard_charges().shipping_fee(province, grams=1, goods=1) > 0


@pytest.mark.parametrize(
    ("grams", "fee"), [(0, 20_000), (1_000, 20_000), (1_001, 22_500), (1_500, 22_500), (1_501, 25_000)]
)
def test_what_weighs_more_costs_more_by_the_step(grams: int, fee: int) -> None:
    assert standard_charges().shipping_fee(province_of("Hà Nội"), grams=grams, goods=1) == fee


def test_far_costs_more_than_near_and_enough_goods_travel_free() -> None:
    fees = [
        standard_charges().shipping_fee(province_of(name), grams=800, goods=499_999)
        for name in ("Hà Nội", "Ninh Bình", "Cà Mau")
    ]
    assert fees == sorted(set(fees))
    assert standard_charges().shipping_fee(province_of("Cà Mau"), grams=90_000, goods=500_000) == 0
    never = parsed_charges(SHIPPED.replace("free_from = 500_000", "free_from = 0"))
    assert never.shipping_fee(province_of("Cà Mau"), grams=1, goods=10**9) > 0


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("percent = 8", "percent = 8.5", "vat.percent"),
        ("percent = 8", "percent = -1", "vat.percent"),
        ("percent = 8", "per_cent = 8", "vat.percent"),
        ("base = 20_000", 'base = "20000"', "base"),
        ("base = 20_000", "base = -1", "base"),
        ("step_grams = 500", "step_grams = 0", "step_grams"),
        ('"hue", ', "", "no zone has hue"),
        ('"hue", ', '"hue", "hue", ', "another zone has already"),
        ('"hue", ', '"huế", ', "the code of no province"),
        ("[vat]", "[vat", "no TOML"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(was: str, becomes: str, told: str) -> None:
    assert was in SHIPPED
    with pytest.raises(ChargesRefused, match=told) as refused:
        parsed_charges(SHIPPED.replace(was, becomes, 1))
    assert "\n" not in str(refused.value)
