"""A guest's cart comes into the account's: nothing is lost without being told, nothing is doubled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.shop.cart import LINE_LIMIT, LINES_LIMIT
from app.shop.catalog import Offer
from app.shop.merging import Merging, brought_in, room_of

lines = st.dictionaries(st.text("ABCDEFG", min_size=1, max_size=2), st.integers(1, LINE_LIMIT), max_size=20)


@pytest.mark.parametrize(("how", "units"), [("sum", 3), ("max", 2), ("guest", 2), ("keep", 1)])
def test_a_line_of_both_becomes_what_the_strategy_says(how: Merging, units: int) -> None:
    brought = brought_in({"A": 2, "B": 1}, {"A": 1, "C": 5}, how, room={"A": 99, "B": 99})
    assert {"A": 1, "C": 5, **brought.changed} == {"A": units, "B": 1, "C": 5}
    assert brought.left_out == {}


@given(lines, lines, st.sampled_from(["sum", "max", "guest", "keep"]), st.integers(1, LINE_LIMIT))
def test_what_finds_no_room_is_told_and_own_lines_never_shrink_for_it(
    guest: dict[str, int], kept: dict[str, int], how: Merging, room: int
) -> None:
    brought = brought_in(guest, kept, how, room=dict.fromkeys(guest, room))
    for sku, units in guest.items():
        after = brought.changed.get(sku, kept.get(sku, 0))
        wanted = {
            "sum": units + kept.get(sku, 0),
            "max": max(units, kept.get(sku, 0)),
            "guest": units,
            "keep": kept.get(sku, units),
        }[how]
        assert after + brought.left_out.get(sku, 0) == wanted
        assert after <= max(room, kept.get(sku, 0))
        assert after >= min(wanted, kept.get(sku, 0))
    assert brought.changed.keys() | brought.left_out.keys() <= guest.keys()


def test_a_full_cart_takes_no_more_kinds_and_tells_which() -> None:
    kept = {f"K{number}": 1 for number in range(LINES_LIMIT - 1)}
    brought = brought_in({"A": 1, "B": 2, "K0": 1}, kept, "sum", room={"A": 9, "B": 9, "K0": 9})
    assert brought.changed == {"A": 1, "K0": 2}
    assert brought.left_out == {"B": 2}


def test_there_is_room_for_the_stock_within_the_limit_and_sold_out_lines_stay() -> None:
    def offer(sku: str, stock: int) -> Offer:
        return Offer(sku=sku, slug=sku, name=sku, price=1, stock=stock)

    offers = {"A": offer("A", 2), "B": offer("B", 1000), "C": offer("C", 0)}
    room = room_of(offers, dict.fromkeys("ABCD", 1))
    assert room == {"A": 2, "B": LINE_LIMIT, "C": LINE_LIMIT, "D": LINE_LIMIT}
