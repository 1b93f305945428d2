"""A file becomes the catalogue as a whole or not at all, and the same file changes nothing."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from app.shop.catalog import UNCOUNTED, ProductQuery
from app.shop.errors import OutOfStock
from app.shop.importing import (
    CatalogueFile,
    FileRefused,
    ImportCatalogue,
    Imported,
    ImportedProduct,
    ImportedVariant,
    Picture,
    SkusTaken,
    Terms,
    write_catalogue,
)
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.imports import SqlImports, patient
from app.stores.orders import SqlOrders
from app.stores.sample.goods import sample_products

APPAREL = (Path(__file__).parents[2] / "data" / "apparel.csv").read_bytes()

Importing = Callable[[bytes], Awaitable[Imported]]


def shirt(slug: str = "ao", **changed: Any) -> ImportedProduct:
    product = ImportedProduct(
        slug=slug,
        name="Áo đỏ",
        body="<p>Vải <b>lanh</b> &amp; cotton</p>",
        category="Quần áo",
        vendor="Phố",
        tags=("hè", "nam"),
        options=("Cỡ", "Bản"),
        variants=(
            ImportedVariant(sku=f"{slug}-S", values=("S", "1"), price=200, stock=1),
            ImportedVariant(sku=f"{slug}-M", values=("M", "1"), price=100, stock=0, sells_past_zero=True),
        ),
        pictures=(Picture(source="mau/ao.svg", alt="Áo"), Picture(source="https://x.example/2.jpg")),
    )
    return replace(product, **changed)


@pytest.fixture
async def imports(database_url: str) -> AsyncIterator[SqlImports]:
    database = Database(patient(database_url))
    yield SqlImports(database=database)
    await database.close()


@pytest.fixture
def import_file(imports: SqlImports) -> Importing:
    async def import_file(content: bytes) -> Imported:
        return await ImportCatalogue(imports=imports)(io.BytesIO(content), name="x.csv", terms=Terms())

    return import_file


async def everything(imports: SqlImports) -> list[ImportedProduct]:
    return [product async for product in imports.everything()]


async def versions(database: Database) -> dict[tuple[str, str], str]:
    """Each row's version: it changes with every write, also one of the same values."""
    rows = await database.rows(
        text(
            "SELECT 'p', slug, xmin::text FROM products UNION ALL SELECT 'v', sku, xmin::text FROM variants "
            "UNION ALL SELECT 'c', slug, xmin::text FROM categories "
            "UNION ALL SELECT 'i', product_id || '/' || position, xmin::text FROM product_pictures"
        )
    )
    return {(kind, key): version for kind, key, version in rows}


class TestTwice:
    async def test_the_real_file_imported_twice_is_the_same_catalogue(
        self, import_file: Importing, imports: SqlImports, database: Database
    ) -> None:
        first = await import_file(APPAREL)
        assert (first.kept.added, first.summary.variants) == (20, 22)
        kept, rows = await everything(imports), await versions(database)
        second = await import_file(APPAREL)
        assert (second.kept.added, second.kept.changed, second.kept.unchanged) == (0, 0, 20)
        assert await everything(imports) == kept
        assert await versions(database) == rows, "a row was written again"

    async def test_the_catalogue_is_what_the_file_says(
        self, import_file: Importing, imports: SqlImports
    ) -> None:
        await import_file(APPAREL)
        file = CatalogueFile(io.BytesIO(APPAREL), name="x.csv", terms=Terms())
        assert await everything(imports) == list(file.products())

    async def test_an_export_imports_back_to_the_same(
        self, import_file: Importing, imports: SqlImports
    ) -> None:
        products = [
            shirt(),
            shirt("mu", visibility="draft"),
            shirt("gio", visibility="archived", vendor="=1+1"),
        ]
        await imports.keep(lambda: products)
        out = io.StringIO(newline="")
        write_catalogue(await everything(imports), out)
        again = await import_file(out.getvalue().encode("utf-8-sig"))
        assert again.kept.unchanged == len(products)
        assert await everything(imports) == products

    async def test_two_imports_at_once_take_turns(self, imports: SqlImports, database: Database) -> None:
        both = [SqlImports(database=database).keep(lambda: [shirt()]) for _ in range(4)]
        kept = await asyncio.gather(*both)
        assert sum(found.added for found in kept) == 1
        assert await everything(imports) == [shirt()]


class TestAllOrNothing:
    @pytest.mark.parametrize("line", [3, 12, 22])
    async def test_a_file_broken_in_the_middle_changes_nothing_and_names_the_line(
        self, import_file: Importing, imports: SqlImports, database: Database, line: int
    ) -> None:
        await imports.keep(lambda: [shirt("red-sports-tee")])
        before = await versions(database)
        rows = APPAREL.split(b"\n")
        rows[line - 1] = rows[line - 1].replace(b",manual,", b",manual,-", 1)
        with pytest.raises(FileRefused) as refusal:
            await import_file(b"\n".join(rows))
        assert any(f"x.csv, line {line}" in str(found) for found in refusal.value.refusals)
        assert await versions(database) == before

    async def test_a_file_that_breaks_off_changes_nothing(
        self, import_file: Importing, imports: SqlImports
    ) -> None:
        with pytest.raises(FileRefused):
            await import_file(APPAREL[: len(APPAREL) // 2])
        assert await everything(imports) == []

    async def test_whatever_fails_while_reading_changes_nothing(self, imports: SqlImports) -> None:
        def failing() -> Iterator[ImportedProduct]:
            yield shirt()
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            await imports.keep(failing)
        assert await everything(imports) == []

    async def test_a_sku_of_another_product_is_refused_by_its_line(self, imports: SqlImports) -> None:
        await imports.keep(lambda: [shirt("mu")])
        taken = (ImportedVariant(sku="mu-S", values=("S", "1"), price=1, stock=1, line=7),)
        with pytest.raises(SkusTaken) as conflict:
            await imports.keep(lambda: [shirt("ao", variants=taken)])
        assert [(found.line, found.sku, found.slug) for found in conflict.value.taken] == [(7, "mu-S", "mu")]
        assert [product.slug for product in await everything(imports)] == ["mu"]

    async def test_a_sku_may_move_between_products_of_one_file(self, imports: SqlImports) -> None:
        await imports.keep(lambda: [shirt("ao"), shirt("mu")])
        ao, mu = shirt("ao"), shirt("mu")
        swapped = [replace(ao, variants=mu.variants), replace(mu, variants=ao.variants)]
        await imports.keep(lambda: swapped)
        assert await everything(imports) == swapped


async def test_an_import_is_kept_also_when_the_tables_cannot_be_tidied_afterwards(
    database_url: str, imports: SqlImports
) -> None:
    impatient = Database(DatabaseConfig(url=database_url, lock_timeout_s=0.2, answer_within_s=30))
    plain = make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as other:
        other.execute("LOCK TABLE product_pictures IN SHARE UPDATE EXCLUSIVE MODE")
        kept = await SqlImports(database=impatient).keep(lambda: [shirt()])
    await impatient.close()
    assert kept.added == 1
    assert await everything(imports) == [shirt()]


class TestChanges:
    async def test_only_what_differs_is_changed(self, imports: SqlImports, database: Database) -> None:
        await imports.keep(lambda: [shirt("ao"), shirt("mu")])
        before = await versions(database)
        dearer = replace(shirt("mu").variants[0], price=300)
        kept = await imports.keep(
            lambda: [shirt("ao"), shirt("mu", variants=(dearer, shirt("mu").variants[1]))]
        )
        after = await versions(database)
        assert (kept.added, kept.changed, kept.unchanged) == (0, 1, 1)
        assert {key for key in after if after[key] != before[key]} == {("v", "mu-S")}

    async def test_variants_and_pictures_that_a_file_leaves_out_are_gone(
        self, imports: SqlImports, catalog: SqlCatalog
    ) -> None:
        await imports.keep(lambda: [shirt()])
        smaller = shirt(variants=shirt().variants[:1], pictures=())
        await imports.keep(lambda: [smaller])
        assert await everything(imports) == [smaller]
        assert await catalog.offers(["ao-M"]) == {}

    async def test_products_that_a_file_leaves_out_stay(self, imports: SqlImports) -> None:
        await imports.keep(lambda: [shirt("ao")])
        await imports.keep(lambda: [shirt("mu")])
        assert await everything(imports) == [shirt("ao"), shirt("mu")]

    async def test_what_is_there_can_be_passed_over(self, imports: SqlImports) -> None:
        await imports.keep(lambda: [shirt("ao")])
        kept = await imports.keep(lambda: [shirt("ao", name="Khác"), shirt("mu")], only_new=True)
        assert (kept.added, kept.unchanged) == (1, 0)
        assert await everything(imports) == [shirt("ao"), shirt("mu")]

    async def test_an_order_waiting_for_an_import_gets_its_turn(
        self,
        imports: SqlImports,
        orders: SqlOrders,
        new_account: Any,
        ordering: Any,
    ) -> None:
        await imports.keep(lambda: [shirt()])
        account = await new_account()
        wanted = ordering(account, {"ao-S": 1}, total=200)
        await asyncio.gather(orders.place(wanted), imports.keep(lambda: [shirt(name="Áo mới")]))


class TestShown:
    async def test_a_product_is_shown_as_it_was_imported(
        self, imports: SqlImports, catalog: SqlCatalog
    ) -> None:
        await imports.keep(lambda: [shirt()])
        product = await catalog.product("ao")
        assert product is not None
        assert (product.body, product.description) == (shirt().body, "Vải lanh & cotton")
        assert product.pictures == list(shirt().pictures)
        assert [list(variant.options.items()) for variant in product.variants] == [
            [("Cỡ", "S"), ("Bản", "1")],
            [("Cỡ", "M"), ("Bản", "1")],
        ]
        listed = (await catalog.page(ProductQuery())).items[0]
        assert (listed.price, listed.in_stock, listed.picture) == (100, True, shirt().pictures[0])

    @pytest.mark.parametrize("visibility", ["hidden", "draft", "archived"])
    async def test_what_is_not_visible_is_nowhere(
        self, imports: SqlImports, catalog: SqlCatalog, visibility: str
    ) -> None:
        await imports.keep(lambda: [shirt(visibility=visibility)])
        assert await catalog.product("ao") is None
        assert (await catalog.page(ProductQuery(text="áo"))).total == 0
        assert await catalog.categories() == []
        assert await catalog.offers(["ao-S"]) == {}

    async def test_what_nobody_counts_sells_past_zero(
        self,
        imports: SqlImports,
        catalog: SqlCatalog,
        orders: SqlOrders,
        new_account: Any,
        ordering: Any,
    ) -> None:
        await imports.keep(lambda: [shirt()])
        assert (await catalog.offers(["ao-M"]))["ao-M"].stock == UNCOUNTED
        account = await new_account()
        await orders.place(ordering(account, {"ao-M": 5}, total=500))
        assert await everything(imports) == [shirt()]
        with pytest.raises(OutOfStock):
            await orders.place(ordering(account, {"ao-S": 2}, total=400))

    async def test_a_list_says_sold_out_when_the_last_unit_of_the_last_variant_is_sold(
        self,
        imports: SqlImports,
        catalog: SqlCatalog,
        orders: SqlOrders,
        new_account: Any,
        ordering: Any,
    ) -> None:
        last = tuple(replace(variant, stock=1, sells_past_zero=False) for variant in shirt().variants)
        await imports.keep(lambda: [shirt(variants=last)])
        account = await new_account()
        sold = [ordering(account, {"ao-S": 1}, total=200), ordering(account, {"ao-M": 1}, total=100)]
        await asyncio.gather(*(orders.place(order) for order in sold))
        assert [item.in_stock for item in (await catalog.page(ProductQuery())).items] == [False]
        assert (await catalog.page(ProductQuery(in_stock=True))).total == 0


async def test_the_sample_is_kept_as_it_is_told(imports: SqlImports) -> None:
    await imports.keep(sample_products)
    assert await everything(imports) == list(sample_products())
