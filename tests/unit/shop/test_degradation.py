"""What the table puts in the place of an answer, and that one part never takes another along."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from app.shop.catalog import Product, ProductSummary, Variant
from app.shop.degradation import TABLE, Copy, Helpful, Shown, Told
from app.shop.errors import NotFound, Unavailable
from app.shop.inventory import Stock
from app.shop.product_page import RECOMMENDED_MOST, ShowProduct, beside
from app.shop.recommendations import Recommended

PRODUCT = Product(
    slug="phin",
    name="Phin",
    description="",
    category="Cà phê",
    variants=[Variant(sku="PHIN-S", name="S", price=1, stock=3, options={})],
)
STOCK = Stock(units={"PHIN-S": 7}, as_of=datetime(2026, 1, 1, tzinfo=UTC))


class OneProduct:
    """A catalogue with one product."""

    async def product(self, slug: str) -> Product | None:
        return PRODUCT if slug == "phin" else None


class Kept:
    """Copies in a dict; `age_s` of each."""

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.age_s = 90.0

    async def get(self, key: str) -> Copy[Any] | None:
        return Copy(value=self.values[key], age_s=self.age_s) if key in self.values else None

    def keep(self, key: str, value: Any) -> None:
        self.values[key] = value

    async def drop(self, key: str) -> None:
        self.values.pop(key, None)


def says(value: Any, after_turns: int = 0) -> Callable[[str], Awaitable[Any]]:
    async def ask(_: str) -> Any:
        for _turn in range(after_turns):
            await asyncio.sleep(0)
        if isinstance(value, BaseException):
            raise value
        return value

    return ask


def helpful(value: Any, copies: Kept | None = None, after_turns: int = 0) -> Helpful[Any]:
    return Helpful(policy=TABLE["inventory"], ask=says(value, after_turns), copies=copies)


def page(**parts: Any) -> ShowProduct:
    return ShowProduct(catalog=OneProduct(), **parts)  # type: ignore[arg-type]  # all the page asks of it


def test_the_table_has_a_row_for_every_dependency_of_the_design() -> None:
    assert {name for name, policy in TABLE.items() if policy.kind == "essential"} == {
        "payments",
        "authentication",
        "sessions",
    }
    assert {name for name, policy in TABLE.items() if policy.copy_limit} == {"reviews", "inventory"}


async def test_a_fresh_answer_is_kept_and_no_copy_is_read() -> None:
    copies = Kept(phin="old")
    assert await helpful("new", copies)("phin") == Told(value="new", shown="fresh")
    assert copies.values == {"phin": "new"}


async def test_a_copy_is_shown_with_its_age_only_when_nothing_is_answered() -> None:
    told = await helpful(Unavailable("x"), Kept(phin="old"))("phin")
    assert told == Told(value="old", shown="copy", age_s=90.0)
    assert told.is_degraded


@pytest.mark.parametrize("copies", [Kept(), None])
async def test_without_a_copy_there_is_nothing(copies: Kept | None) -> None:
    assert await helpful(Unavailable("x"), copies)("phin") == Told(value=None, shown="nothing")


async def test_a_page_says_which_parts_are_missing_and_tells_what_was_shown_instead() -> None:
    noticed: list[tuple[str, Shown]] = []
    show = page(
        reviews=helpful(Unavailable("x")),
        recommendations=helpful([]),
        inventory=helpful(Unavailable("x"), Kept(phin=STOCK)),
        notice=lambda name, shown: noticed.append((name, shown)),
    )
    view = await show("phin")
    assert view.degraded == ["reviews", "inventory"]
    assert noticed == [("reviews", "nothing"), ("inventory", "copy")]
    assert view.units(PRODUCT.variants[0]) == 7


async def test_a_shop_without_services_lacks_nothing() -> None:
    view = await page()("phin")
    assert view.degraded == []
    assert view.units(PRODUCT.variants[0]) == 3


async def test_no_service_is_asked_about_a_product_that_is_not_there() -> None:
    with pytest.raises(NotFound):
        await page(reviews=helpful(AssertionError("asked")))("none")


@pytest.mark.parametrize("failure", [Unavailable("x"), ZeroDivisionError(), asyncio.CancelledError()])
async def test_one_parts_failure_or_cancellation_never_loses_anothers_result(failure: BaseException) -> None:
    show = page(
        reviews=helpful(failure), recommendations=helpful([], after_turns=5), inventory=helpful(STOCK)
    )
    view = await show("phin")
    assert view.degraded == ["reviews"]
    assert (view.recommendations.value, view.stock.value) == ([], STOCK)


async def test_parts_are_asked_side_by_side_and_go_with_who_asked() -> None:
    inside, left = 0, 0
    everybody = asyncio.Event()

    async def ask(_: str) -> None:
        nonlocal inside, left
        inside += 1
        if inside == 3:
            everybody.set()
        try:
            await asyncio.Event().wait()
        finally:
            left += 1

    part = Helpful(policy=TABLE["reviews"], ask=ask)
    asking = asyncio.create_task(page(reviews=part, recommendations=part, inventory=part)("phin"))
    await everybody.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.sleep(0)
    assert left == 3


async def test_what_is_recommended_and_sold_no_longer_is_left_out() -> None:
    class Shop:
        async def beside(self, product: str, *, most: int) -> Sequence[Recommended]:
            return [Recommended(product=f"{product}-{n}", reason="bestseller") for n in range(most)]

        async def summaries(self, slugs: Sequence[str]) -> Sequence[ProductSummary]:
            return [
                ProductSummary(slug=slug, name="", category="", price=1, in_stock=True) for slug in slugs[2:]
            ]

    found = await beside(Shop(), Shop())("phin")  # type: ignore[arg-type]  # all it asks of the catalogue
    assert [one.slug for one in found] == [f"phin-{n}" for n in range(2, 2 + RECOMMENDED_MOST)]
