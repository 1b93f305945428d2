"""Shoppers find things however they type them, and hostile text finds nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest

from app.shop.catalog import ProductQuery
from app.shop.errors import Invalid
from app.stores.catalog import SqlCatalog
from app.stores.sample.catalog import load_sample


async def names(catalog: SqlCatalog, **query: Any) -> Sequence[str]:
    return [item.name for item in (await catalog.page(ProductQuery(**query))).items]


@pytest.mark.parametrize(
    "typed",
    [
        "ca phe",
        "cà phê",
        "CÀ PHÊ",
        unicodedata.normalize("NFD", "cà phê"),
        "phe  ca",
        "phê duong",
        "ĐƯỜNG",
        "duong",
    ],
)
async def test_a_name_is_found_without_case_marks_or_word_order(
    catalog: SqlCatalog, sell: Any, typed: str
) -> None:
    await sell("A", name="Cà phê đường phèn")
    await sell("B", name="Trà sen")
    assert await names(catalog, text=typed) == ["Cà phê đường phèn"]


@pytest.mark.parametrize("sign", ["%", "_", "\\", "'", "/"])
async def test_signs_of_the_query_language_are_only_signs(catalog: SqlCatalog, sell: Any, sign: str) -> None:
    await sell("A", name=f"Giảm 50{sign} hôm nay")
    await sell("B", name="Giảm 50x hôm nay")
    assert await names(catalog, text=f"50{sign}") == [f"Giảm 50{sign} hôm nay"]


async def test_names_that_begin_so_come_first(catalog: SqlCatalog, sell: Any) -> None:
    await sell("A", name="Phin pha cà phê")
    await sell("B", name="Cà phê")
    assert await names(catalog, text="ca phe") == ["Cà phê", "Phin pha cà phê"]


@pytest.mark.parametrize("hostile", ["\0", "a\0b", "\ud800", "x" * 100_000])
async def test_what_no_database_can_hold_finds_nothing(catalog: SqlCatalog, sell: Any, hostile: str) -> None:
    await sell("A")
    assert (await catalog.page(ProductQuery(text=hostile))).total == 0
    assert (await catalog.page(ProductQuery(category=hostile))).total == 0
    assert await catalog.product(hostile) is None
    assert await catalog.offers([hostile]) == {}


async def test_a_list_is_paged_and_tells_its_total_on_every_page(catalog: SqlCatalog, sell: Any) -> None:
    for number in range(5):
        await sell(f"P{number}", name=f"Hàng {number}")
    assert await names(catalog, page=2, page_size=2) == ["Hàng 2", "Hàng 3"]
    for page in (1, 3, 7):
        assert (await catalog.page(ProductQuery(page=page, page_size=2))).total == 5


@pytest.mark.parametrize(("page", "page_size"), [(0, 10), (-1, 10), (10**30, 10), (1, 0), (1, 10**30)])
async def test_a_page_that_no_list_has_is_refused(catalog: SqlCatalog, page: int, page_size: int) -> None:
    with pytest.raises(Invalid):
        await catalog.page(ProductQuery(page=page, page_size=page_size))


async def test_hidden_products_are_nowhere(catalog: SqlCatalog, sell: Any) -> None:
    await sell("H", visible=False)
    assert (await catalog.page(ProductQuery())).total == 0
    assert await catalog.categories() == []
    assert await catalog.product("sp-h") is None
    assert await catalog.offers(["H"]) == {}


async def test_a_category_holds_its_products_only(catalog: SqlCatalog, sell: Any) -> None:
    await sell("A", category="Đồ chơi")
    await sell("B", category="Dép")
    await sell("C", category="Ếch")
    assert [category.name for category in await catalog.categories()] == ["Dép", "Đồ chơi", "Ếch"]
    page = await catalog.page(ProductQuery(category="Dép-B"))
    assert (page.total, page.items[0].slug, page.items[0].category) == (1, "sp-b", "Dép")


async def test_a_product_shows_its_cheapest_price_and_whether_any_variant_is_left(
    catalog: SqlCatalog, sell: Any
) -> None:
    await sell("A", stock=0, price=7000)
    item = (await catalog.page(ProductQuery())).items[0]
    assert (item.price, item.in_stock) == (7000, False)
    product = await catalog.product(item.slug)
    assert product is not None
    assert [(variant.sku, variant.stock) for variant in product.variants] == [("A", 0)]


async def test_an_offer_has_the_full_name(catalog: SqlCatalog, database: Any) -> None:
    await load_sample(database)
    offers = await catalog.offers(["CF-ROB-250", "NON-HUE", "NO-SUCH"])
    assert {sku: offer.name for sku, offer in offers.items()} == {
        "CF-ROB-250": "Cà phê Robusta Buôn Ma Thuột (250 g)",
        "NON-HUE": "Nón lá bài thơ",
    }
