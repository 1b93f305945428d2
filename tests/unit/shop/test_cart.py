"""A cart shows today's names and prices, and takes no more than there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pytest

from app.shop.cart import LINE_LIMIT, AddToCart, CartLines, PutInCart, ShowCart
from app.shop.catalog import Offer, Sku
from app.shop.errors import CartLimit, Invalid, NotFound, OutOfStock


@dataclass
class HeapCart:
    """A cart in the heap."""

    quantities: dict[Sku, int] = field(default_factory=dict)
    last_once: str | None = None

    async def read(self) -> CartLines:
        return CartLines(cart_id="c" if self.quantities else None, quantities=dict(self.quantities))

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        self.last_once = once
        return await self._set(sku, self.quantities.get(sku, 0) + quantity, at_most)

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        await self._set(sku, quantity, at_most)

    async def settle(self, ordered: CartLines) -> bool:
        raise NotImplementedError

    async def _set(self, sku: Sku, quantity: int, at_most: int) -> int:
        if quantity > at_most:
            raise CartLimit(sku, at_most=at_most)
        self.quantities[sku] = quantity
        if quantity == 0:
            del self.quantities[sku]
        return quantity


SHELF = {
    sku: Offer(sku=sku, slug=sku.lower(), name=f"Hàng {sku}", price=price, stock=stock)
    for sku, price, stock in (("A", 1000, 500), ("B", 2500, 3), ("SOLD-OUT", 9000, 0))
}


async def offers(skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
    return {sku: SHELF[sku] for sku in skus if sku in SHELF}


add, put, show = AddToCart(offers=offers), PutInCart(offers=offers), ShowCart(offers=offers)


async def test_a_cart_is_priced_line_by_line() -> None:
    view = await show(HeapCart({"B": 2, "A": 3}))
    assert [(line.sku, line.name, line.total) for line in view.lines] == [
        ("A", "Hàng A", 3000),
        ("B", "Hàng B", 5000),
    ]
    assert (view.count, view.total) == (5, 8000)


async def test_an_empty_cart_asks_for_no_prices() -> None:
    async def never(_: Iterable[Sku]) -> Mapping[Sku, Offer]:
        raise AssertionError

    assert (await ShowCart(offers=never)(HeapCart())).total == 0


async def test_what_is_no_longer_sold_is_named_and_costs_nothing() -> None:
    view = await show(HeapCart({"A": 1, "GONE": 7}))
    assert (list(view.gone), view.count, view.total) == (["GONE"], 1, 1000)


async def test_a_line_tells_when_there_is_not_enough() -> None:
    view = await show(HeapCart({"A": 500, "B": 4, "SOLD-OUT": 1}))
    assert [line.available for line in view.lines] == [True, False, False]


async def test_adding_adds() -> None:
    cart = HeapCart({"A": 1})
    assert await add(cart, "A", 2) == 3


@pytest.mark.parametrize("quantity", [0, -1, -(10**30)])
async def test_nothing_or_less_cannot_be_added(quantity: int) -> None:
    cart = HeapCart()
    with pytest.raises(Invalid):
        await add(cart, "A", quantity)
    assert cart.quantities == {}


@pytest.mark.parametrize(
    ("sku", "quantity", "most"), [("A", 100, 99), ("A", 2147483648, 99), ("A", 10**22, 99), ("B", 4, 3)]
)
async def test_more_than_a_line_may_hold_is_refused(sku: str, quantity: int, most: int) -> None:
    cart = HeapCart()
    for change in (add, put):
        with pytest.raises(CartLimit) as refused:
            await change(cart, sku, quantity)
        assert refused.value.at_most == most
    assert cart.quantities == {}


async def test_a_full_line_takes_no_more() -> None:
    cart = HeapCart({"A": LINE_LIMIT})
    with pytest.raises(CartLimit):
        await add(cart, "A", 1)
    assert cart.quantities == {"A": LINE_LIMIT}


async def test_what_is_sold_out_or_unknown_is_told_so() -> None:
    for change in (add, put):
        with pytest.raises(OutOfStock):
            await change(HeapCart(), "SOLD-OUT", 1)
        with pytest.raises(NotFound):
            await change(HeapCart(), "UNKNOWN", 1)


async def test_a_line_is_set_and_removed_even_when_no_longer_sold() -> None:
    cart = HeapCart({"A": 9, "GONE": 1})
    await put(cart, "A", 2)
    await put(cart, "GONE", 0)
    assert cart.quantities == {"A": 2}


async def test_a_line_cannot_be_set_below_nothing() -> None:
    with pytest.raises(Invalid):
        await put(HeapCart({"A": 1}), "A", -1)
