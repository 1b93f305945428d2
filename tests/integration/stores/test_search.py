"""Search: found in every spelling, ranked, filtered, sorted, paged."""

from __future__ import annotations

import unicodedata

import psycopg
import pytest

from app.shop.catalog import ProductQuery, Sort
from app.shop.importing import ImportedProduct, ImportedVariant, path_segment
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.imports import SqlImports
from app.stores.search import query_of, words_of


def goods(
    name: str, *, price: int = 100, stock: int = 1, category: str = "Kệ", body: str = ""
) -> ImportedProduct:
    slug = path_segment(name)
    return ImportedProduct(
        slug=slug,
        name=name,
        body=body,
        category=category,
        variants=(ImportedVariant(sku=slug[:64], values=(), price=price, stock=stock),),
    )


SHELF = [
    goods("Đường thốt nốt", price=58, category="Đặc sản"),
    goods("Cà phê hòa tan", price=89, category="Đồ uống"),
    goods("Cà phê phin", price=75, stock=0, category="Đồ uống"),
    goods("Phin nhôm", price=39, category="Nhà bếp", body="Pha cà phê từng giọt"),
    goods("Giảm giá 50% hôm nay", price=10),
    goods("Ổ_khóa đồng", price=220),
    goods("Sách l'Amour", price=135),
    goods("Dưa món", price=20),
    goods("Êm đềm", price=185),
    goods("Em bé", price=50),
    goods("Ăn vặt", price=15),
    goods("Áo dài", price=1450),
    goods("Phở 🍜 khô", price=99),
]


@pytest.fixture
async def shelf(database: Database, catalog: SqlCatalog) -> SqlCatalog:
    await SqlImports(database=database).keep(lambda: SHELF)
    return catalog


async def names(catalog: SqlCatalog, text: str, **asked: object) -> list[str]:
    page = await catalog.page(ProductQuery(text=text, **asked))  # type: ignore[arg-type]
    assert page.total == len(page.items)
    return [item.name for item in page.items]


SUGAR = unicodedata.normalize("NFD", "đường")


@pytest.mark.parametrize(
    "text", ["duong", "ĐƯỜNG", "đường", SUGAR, SUGAR.upper(), "đuong", "  Duong ", "dươ", "d"]
)
async def test_sugar_is_found_however_it_is_typed(shelf: SqlCatalog, text: str) -> None:
    assert "Đường thốt nốt" in await names(shelf, text)


@pytest.mark.parametrize(
    "text", ["ca phe", "cà phê", "CÀ PHÊ", unicodedata.normalize("NFD", "Cà Phê"), "phe ca"]
)
async def test_coffee_is_found_in_every_spelling_names_first(shelf: SqlCatalog, text: str) -> None:
    found = await names(shelf, text)
    assert set(found) == {"Cà phê hòa tan", "Cà phê phin", "Phin nhôm"}
    assert found[-1] == "Phin nhôm", "a word of the name weighs more than one of the description"


@pytest.mark.parametrize("text", ["hoà tan", "hòa tan", "hoa tan"])
async def test_old_and_new_tone_placement_find_the_same(shelf: SqlCatalog, text: str) -> None:
    assert await names(shelf, text) == ["Cà phê hòa tan"]


async def test_a_name_that_begins_as_typed_comes_first(shelf: SqlCatalog) -> None:
    assert (await names(shelf, "phin"))[0] == "Phin nhôm"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%", ["Giảm giá 50% hôm nay"]),
        ("50%", ["Giảm giá 50% hôm nay"]),
        ("_", ["Ổ_khóa đồng"]),
        ("o_khoa", ["Ổ_khóa đồng"]),
        ("'", ["Sách l'Amour"]),
        ("l’amour", ["Sách l'Amour"]),
        ("🍜", ["Phở 🍜 khô"]),
        ("c_ phe", []),
        ("ca%", []),
        ("\\", []),
        ("& | ! :* <->", []),
        ("'; DROP TABLE products; --", []),
        ("...", []),
        ("x" * 5000, []),
        ("khong co", []),
        ("\0", []),
    ],
)
async def test_signs_mean_themselves(shelf: SqlCatalog, text: str, found: list[str]) -> None:
    assert await names(shelf, text) == found


async def test_a_word_is_found_while_it_is_typed(shelf: SqlCatalog) -> None:
    for typed in ("thốt nố", "thot no", "tho", "th"):
        assert await names(shelf, typed) == ["Đường thốt nốt"]
    assert await names(shelf, "th not") == [], "only the last word may still be typed"


CROWD = """
INSERT INTO categories (slug, name) VALUES ('dam-dong', 'Đám đông');
INSERT INTO products (slug, name, description, category_id, search, sort_key, words, head_words)
SELECT kind || n, name, '', (SELECT id FROM categories), name, name, words || told, words
FROM generate_series(1, 1200) AS n,
     (VALUES ('c', 'chieu', ''), ('b', 'gom coi', ''), ('p', 'phin', 'coi')) AS kinds (kind, called, text),
     LATERAL (SELECT concat_ws(' ', called, 'so' || n) AS name) AS made,
     LATERAL (SELECT setweight(to_tsvector('simple', name), 'A') AS words, to_tsvector('simple', text) AS told) AS indexed
WHERE kind <> 'p' OR n <= 10;
INSERT INTO variants (sku, product_id, position, name, price, stock)
SELECT 'sku-' || id, id, 0, '', 1000, 1 FROM products
"""
"""1,200 mats called `chieu`, 1,200 pots called `gom coi`, 10 filters that only tell of `coi`."""


async def test_of_a_common_word_the_better_matches_alone_are_listed_and_all_of_them(
    database_url: str, catalog: SqlCatalog
) -> None:
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        connection.execute(CROWD)

    async def total(text: str, **asked: object) -> int:
        return (await catalog.page(ProductQuery(text=text, **asked))).total  # type: ignore[arg-type]

    assert await total("coi") == 1200, "enough are called so: what only tells of it is left out"
    assert await total("c") == 1200, "enough names begin with the letter"
    assert await total("co") == 1200, "no name begins so, and that is no word: names with a word that does"
    assert await total("coi so7") == 112, "few are called so: the filter that tells of it comes too"
    assert await total("coi", price_least=2000) == 0
    first = await catalog.page(ProductQuery(text="chieu so77"))
    assert [item.name for item in first.items] == ["chieu so77"] + [f"chieu so77{n}" for n in range(10)]


async def test_blanks_ask_for_everything(shelf: SqlCatalog) -> None:
    assert len(await names(shelf, "  ")) == len(SHELF)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"category": "do-uong"}, {"Cà phê hòa tan", "Cà phê phin"}),
        ({"category": "khong-co"}, set()),
        ({"price_most": 39}, {"Phin nhôm"}),
        ({"price_least": 76, "price_most": 89}, {"Cà phê hòa tan"}),
        ({"in_stock": True}, {"Cà phê hòa tan", "Phin nhôm"}),
    ],
)
async def test_filters_narrow_a_search(shelf: SqlCatalog, asked: dict[str, object], found: set[str]) -> None:
    assert set(await names(shelf, "cà phê", **asked)) == found


async def test_names_sort_as_in_the_vietnamese_alphabet(shelf: SqlCatalog) -> None:
    assert await names(shelf, "", sort="name") == [
        "Áo dài", "Ăn vặt", "Cà phê hòa tan", "Cà phê phin", "Dưa món", "Đường thốt nốt", "Em bé", "Êm đềm",
        "Giảm giá 50% hôm nay", "Ổ_khóa đồng", "Phin nhôm", "Phở 🍜 khô", "Sách l'Amour",
    ]  # fmt: skip


async def test_prices_and_age_sort_both_ways(shelf: SqlCatalog) -> None:
    cheapest = await names(shelf, "", sort="cheapest")
    assert cheapest == [
        product.name for product in sorted(SHELF, key=lambda product: product.variants[0].price)
    ]
    assert await names(shelf, "", sort="dearest") == cheapest[::-1]
    assert await names(shelf, "", sort="newest") == [product.name for product in SHELF][::-1]


@pytest.mark.parametrize("sort", ["best", "name", "cheapest", "dearest", "newest"])
@pytest.mark.parametrize("text", ["", "a"])
async def test_pages_hold_every_match_once(shelf: SqlCatalog, sort: Sort, text: str) -> None:
    whole = await shelf.page(ProductQuery(text=text, sort=sort, page_size=100))
    pages = [
        await shelf.page(ProductQuery(text=text, sort=sort, page=number, page_size=3))
        for number in range(1, whole.total // 3 + 3)
    ]
    assert [item for page in pages for item in page.items] == whole.items
    assert {page.total for page in pages} == {whole.total}


async def test_categories_sort_as_in_the_vietnamese_alphabet(shelf: SqlCatalog) -> None:
    assert [category.name for category in await shelf.categories()] == ["Đặc sản", "Đồ uống", "Kệ", "Nhà bếp"]


def test_a_query_is_bounded() -> None:
    assert query_of("a b c d e f g h i j k l m n o p").count("&") == 11
    assert len(query_of("x" * 1_000_000)) < 100


def test_a_long_description_is_indexed_by_its_beginning() -> None:
    assert len(words_of(name="a", labels=[], description="b " * 100_000)) < 10_000
