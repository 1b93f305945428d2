"""An exported catalogue reads back as the same catalogue, and no spreadsheet runs a cell of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.shop.importing import (
    CatalogueFile,
    ImportedProduct,
    ImportedVariant,
    Picture,
    Terms,
    Visibility,
    plain,
    sanitised,
    write_catalogue,
)
from app.shop.importing.cells import harmless, one_line, restored

RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_characters = st.one_of(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")),
    st.sampled_from("=+-@'\",;|\t\n ộĐ<&"),
)


def lines(most: int, *, least: int = 1) -> st.SearchStrategy[str]:
    """One line of text as the shop keeps it."""
    texts = st.text(_characters, max_size=most).map(one_line)
    return texts.filter(lambda text: least <= len(text) <= most)


@st.composite
def products(draw: st.DrawFn, number: int) -> ImportedProduct:
    """Any product that an import could have made."""
    options = draw(st.lists(lines(8), max_size=3, unique=True).map(tuple))
    if options == ("Title",):
        options = ()
    combinations = st.lists(st.tuples(*(lines(8) for _ in options)), min_size=1, max_size=4, unique=True)
    values = draw(combinations)
    skus = draw(st.lists(lines(10), min_size=len(values), max_size=len(values), unique_by=str.casefold))
    sources = st.sampled_from(["https://x.example/a.jpg", "https://x.example/b.jpg", "mau/ao.svg"])
    return ImportedProduct(
        slug=f"p-{number}",
        name=draw(lines(30)),
        body=draw(st.text(_characters, max_size=60).map(sanitised)),
        category=draw(lines(20)),
        vendor=draw(lines(20, least=0)),
        tags=tuple(dict.fromkeys(draw(st.lists(lines(8).filter(lambda tag: "," not in tag), max_size=3)))),
        visibility=draw(st.sampled_from(["visible", "hidden", "draft", "archived"])),
        options=options,
        variants=tuple(
            ImportedVariant(
                sku=f"{sku}-{number}",
                values=tuple(value),
                price=draw(st.integers(0, 10**12)),
                stock=draw(st.integers(0, 10**9)),
                sells_past_zero=draw(st.booleans()),
            )
            for sku, value in zip(skus, values, strict=True)
        ),
        pictures=tuple(
            Picture(source=source, alt=draw(lines(20, least=0)))
            for source in draw(st.lists(sources, max_size=3, unique=True))
        ),
    )


@st.composite
def catalogues(draw: st.DrawFn) -> Sequence[ImportedProduct]:
    return [draw(products(number)) for number in range(draw(st.integers(0, 3)))]


def exported(catalogue: Sequence[ImportedProduct]) -> bytes:
    out = io.StringIO(newline="")
    assert write_catalogue(catalogue, out) == len(catalogue)
    return out.getvalue().encode("utf-8-sig")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(catalogues())
def test_what_is_exported_reads_back_the_same(catalogue: Sequence[ImportedProduct]) -> None:
    file = CatalogueFile(io.BytesIO(exported(catalogue)), name="x.csv", terms=Terms())
    again = list(file.products())
    assert [str(refusal) for refusal in file.refusals] == []
    assert again == catalogue
    assert file.summary.ignored_columns == []
    assert exported(again) == exported(catalogue)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(catalogues())
def test_no_exported_cell_is_one_that_a_spreadsheet_runs(catalogue: Sequence[ImportedProduct]) -> None:
    rows = csv.reader(io.StringIO(exported(catalogue).decode("utf-8-sig"), newline=""))
    assert [cell for row in rows for cell in row if cell.lstrip(" \u00a0\u3000").startswith(RUNS)] == []


@given(st.text(_characters))
def test_a_harmless_cell_is_restored(cell: str) -> None:
    assert restored(harmless(cell)) == cell


@pytest.mark.parametrize("cell", ["=1+1", "'=1", "''@x", "-5", "+84 9", "\t=1", " =1", "＝1", "'", "'a"])
def test_apostrophes_before_formulas_are_doubled_not_lost(cell: str) -> None:
    assert restored(harmless(cell)) == cell
    assert not harmless(cell).lstrip(" ").startswith(RUNS)


@given(st.text(st.sampled_from("<>/abpscriptltd =\"'&;x\n-!")))
def test_a_sanitised_body_stays_as_it_is(body: str) -> None:
    once = sanitised(body)
    assert sanitised(once) == once
    assert "<script" not in once


@pytest.mark.parametrize(
    ("body", "said"),
    [("<p>Vải <b>lanh</b></p><p>mát</p>", "Vải lanh mát"), ("a &amp; b", "a & b"), ("", "")],
)
def test_the_words_of_a_body_are_left_without_marks(body: str, said: str) -> None:
    assert plain(body) == said


@pytest.mark.parametrize("visibility", ["visible", "hidden", "draft", "archived"])
def test_a_product_with_more_pictures_than_variants_is_whole(visibility: Visibility) -> None:
    product = ImportedProduct(
        slug="ao",
        name="Áo",
        body="",
        category="Áo",
        visibility=visibility,
        variants=(ImportedVariant(sku="A", values=(), price=1, stock=1),),
        pictures=tuple(Picture(source=f"a/{number}.svg") for number in range(3)),
    )
    file = CatalogueFile(io.BytesIO(exported([product])), name="x.csv", terms=Terms())
    assert list(file.products()) == [product]
