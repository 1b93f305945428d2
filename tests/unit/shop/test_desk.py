"""What an owner types at the desk, checked before any store is asked."""

from __future__ import annotations

import pytest

from app.shop.desk.goods import changed, checked_options, checked_product, checked_sku, checked_variant
from app.shop.desk.stock import checked_movement
from app.shop.errors import Invalid

FINE = {"name": "Trà", "body": "", "category": "Trà", "vendor": "", "tags": "", "visibility": "visible"}


@pytest.mark.parametrize(
    ("typed", "quantity"), [("5", 5), ("+5", 5), (" -12 ", -12), ("−3", -3), ("1000000", 10**6)]
)
def test_a_movement_adds_or_takes(typed: str, quantity: int) -> None:
    assert checked_movement(quantity=typed, reason="received", note=" a  b ") == (quantity, "received", "a b")


@pytest.mark.parametrize(
    "typed", ["", "0", "-0", "1.5", "1e3", "٣", "--1", "+-1", "1000001", "9" * 5000, "5 5"]
)
def test_a_quantity_that_reads_two_ways_is_refused(typed: str) -> None:
    with pytest.raises(Invalid, match="with - to take"):
        checked_movement(quantity=typed, reason="received", note="")


def test_a_movement_needs_a_reason_of_ours() -> None:
    with pytest.raises(Invalid, match="one of received"):
        checked_movement(quantity="1", reason="stolen", note="")


def test_a_product_is_kept_clean() -> None:
    draft = checked_product(
        **{
            **FINE,
            "name": " Trà\n sen ",
            "body": '<p onclick="x">Ngon<script>alert(1)</script>',
            "tags": "a, b,,a ,",
        }
    )
    assert (draft.name, draft.body, draft.tags) == ("Trà sen", "<p>Ngon</p>", ("a", "b"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "), ("name", "x" * 201), ("name", "a\0"), ("category", ""),
        ("body", "x" * 60_001), ("vendor", "v" * 101), ("tags", ",".join(map(str, range(51)))), ("visibility", "secret"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named_by_its_field(field: str, value: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_product(**{**FINE, field: value})
    assert refused.value.field == field


def test_a_variant_and_its_sku_fit_where_they_are_kept() -> None:
    assert checked_sku("Á" * 32) == "Á" * 32
    for sku in ("", "Á" * 33, "a\ud800"):
        with pytest.raises(Invalid):
            checked_sku(sku)
    with pytest.raises(Invalid):
        checked_variant(values=[], price=10**12 + 1, sells_past_zero=False)
    with pytest.raises(Invalid):
        checked_variant(values=[" "], price=1, sells_past_zero=False)
    with pytest.raises(Invalid):
        checked_options("a, b, c, d")


def test_a_change_is_told_by_what_differs() -> None:
    assert changed({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4}) == (
        {"b": 2, "c": 3, "d": None},
        {"b": 5, "c": None, "d": 4},
    )
