"""The provinces of today, under every name that people write."""

from __future__ import annotations

import unicodedata

import pytest

from app.shop.errors import Invalid
from app.shop.pricing import PROVINCES, province_of
from app.shop.pricing import provinces as table


def test_there_are_34_and_they_stand_for_the_63_of_before() -> None:
    assert len(PROVINCES) == 34
    before = [name for merged in table.MERGED.values() for name in merged]
    renamed = {"Thừa Thiên Huế"}
    assert len(set(before)) - len(renamed) + 34 == 63
    assert len({province.code for province in PROVINCES}) == 34


def test_they_stand_in_the_order_of_the_alphabet() -> None:
    names = [province.name for province in PROVINCES]
    assert names[:3] == ["An Giang", "Bắc Ninh", "Cà Mau"]
    assert names.index("Đà Nẵng") > names.index("Cần Thơ")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Hà Nội", "ha-noi"),
        ("ha noi", "ha-noi"),
        ("  HÀ   NỘI ", "ha-noi"),
        ("hanoi", "ha-noi"),
        ("Thành phố Hà Nội", "ha-noi"),
        ("TP. Hồ Chí Minh", "ho-chi-minh"),
        ("TP.HCM", "ho-chi-minh"),
        ("Sài Gòn", "ho-chi-minh"),
        ("Bà Rịa – Vũng Tàu", "ho-chi-minh"),
        ("ba ria vung tau", "ho-chi-minh"),
        ("Tỉnh Hà Tĩnh", "ha-tinh"),
        ("Hà Tĩnh", "ha-tinh"),
        ("Hoà Bình", "phu-tho"),
        ("Hòa Bình", "phu-tho"),
        ("Thừa Thiên - Huế", "hue"),
        ("ĐẮC LẮC", "dak-lak"),
        ("bac-kan", "thai-nguyen"),
        (unicodedata.normalize("NFD", "Đắk Nông"), "lam-dong"),
    ],
)
def test_a_province_is_found_however_it_is_written(text: str, code: str) -> None:
    assert province_of(text).code == code


def test_every_code_and_every_name_finds_its_province() -> None:
    for province in PROVINCES:
        assert province_of(province.code) == province_of(province.name) == province


@pytest.mark.parametrize("text", ["", " ", "Paris", "tỉnh", "34", "\0", "\ud800", "Hà Nội" * 100, "hà nộ"])
def test_what_is_no_province_is_said_to_be_none(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        province_of(text)
    assert (refused.value.field, refused.value.code) == ("shipping.province", "province_unknown")
