"""A shopper is told line by line what is not as it was shown."""

from __future__ import annotations

import pytest

from app.shop.cart import CartLine, CartView
from app.shop.catalog import Offer
from app.shop.confirming import changes, read, written


def cart(**lines: tuple[int, int]) -> CartView:
    shown = [
        CartLine(Offer(sku=sku, slug=sku, name=f"Hàng {sku}", price=price, stock=99), quantity)
        for sku, (quantity, price) in lines.items()
    ]
    return CartView(cart_id="c", lines=shown, gone=[])


def told(before: CartView, now: CartView) -> list[tuple[str, int | None, int | None]]:
    return [
        (
            change.name,
            change.before.unit_price if change.before else None,
            change.after.unit_price if change.after else None,
        )
        for change in changes(read(written(before)), now)
    ]


def test_nothing_changed_is_nothing_to_tell() -> None:
    assert told(cart(A=(1, 1000), B=(2, 500)), cart(A=(1, 1000), B=(2, 500))) == []


def test_another_price_a_line_that_is_gone_and_a_new_one_are_told() -> None:
    before, now = cart(A=(1, 1000), B=(2, 500)), cart(A=(1, 1200), C=(1, 700))
    assert told(before, now) == [("Hàng A", 1000, 1200), ("B", 500, None), ("Hàng C", None, 700)]


def test_prices_that_moved_against_each_other_are_told_although_the_total_is_the_same() -> None:
    assert told(cart(A=(1, 1000), B=(1, 500)), cart(A=(1, 500), B=(1, 1000))) == [
        ("Hàng A", 1000, 500),
        ("Hàng B", 500, 1000),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"A": 1}',
        '{"A": [-1, 5]}',
        '{"A": [1, 1e999]}',
        '{"A": [1, true, 2]}',
        "[" * 100_000,
        "[" * 30_000,
    ],
)
def test_what_no_page_of_ours_carries_tells_nothing(text: str) -> None:
    assert changes(read(text), cart(A=(1, 1000))) == []
