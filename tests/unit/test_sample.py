"""The sample: goods that an import would have brought, each with its own safe picture."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from app.shop.importing import CatalogueFile, Terms, plain, write_catalogue
from app.stores.sample.drawing import drawn
from app.stores.sample.goods import PICTURES, sample_products, sample_recipes

SHIPPED = Path(__file__).parents[2] / "app" / "web" / "static" / "pictures" / PICTURES
PRODUCTS = list(sample_products())


def test_there_are_eight_shelves_of_ten_and_more() -> None:
    shelves = Counter(product.category for product in PRODUCTS)
    assert len(PRODUCTS) >= 80
    assert len(shelves) == 8
    assert min(shelves.values()) >= 10


def test_stocks_reach_from_none_over_one_or_two_to_many() -> None:
    stocks = {variant.stock for product in PRODUCTS for variant in product.variants}
    assert {0, 1, 2, 500} <= stocks


def test_every_product_is_described_in_a_sentence_or_two() -> None:
    assert [product.name for product in PRODUCTS if len(plain(product.body)) < 60] == []
    assert len({product.body for product in PRODUCTS}) == len(PRODUCTS)


def test_the_sample_is_what_an_import_of_its_export_brings() -> None:
    out = io.StringIO(newline="")
    write_catalogue(PRODUCTS, out)
    file = CatalogueFile(io.BytesIO(out.getvalue().encode()), name="mau.csv", terms=Terms())
    assert list(file.products()) == PRODUCTS
    assert file.refusals == []


def test_the_shipped_pictures_are_the_drawn_ones() -> None:
    shipped = {path.stem: path.read_text(encoding="utf-8") for path in SHIPPED.iterdir()}
    assert shipped == {slug: drawn(slug, recipe) for slug, recipe in sample_recipes().items()}


@pytest.mark.parametrize("slug", sorted(sample_recipes()))
def test_a_picture_is_small_and_holds_nothing_that_runs_or_loads(slug: str) -> None:
    drawing = drawn(slug, sample_recipes()[slug])
    assert len(drawing) < 4_000
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(drawing).iter()}  # noqa: S314 -- our own
    assert tags <= {"svg", "defs", "pattern", "g", "path", "circle", "ellipse"}
    assert not re.search(r"href|style|url\((?!#)|\son\w+=", drawing)
