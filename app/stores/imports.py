"""Catalogues into and out of PostgreSQL, each as one transaction of bounded memory."""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Picture
from app.shop.errors import Unavailable
from app.shop.importing import (
    ImportedProduct,
    ImportedVariant,
    Kept,
    SkusTaken,
    TakenSku,
    Visibility,
    path_segment,
    plain,
)
from app.stores import staging
from app.stores.database import AnyRow, Database, DatabaseConfig
from app.stores.search import findable

_BATCH: Final = 500
"""Products of an export fetched at once."""

_LONG_S: Final = 3600.0


def patient(url: str) -> DatabaseConfig:
    """How an import reaches the database: one connection, and as long as it takes."""
    return DatabaseConfig(
        url=url,
        pool_size=1,
        statement_timeout_s=_LONG_S,
        lock_timeout_s=30.0,
        idle_in_transaction_timeout_s=_LONG_S,
        answer_within_s=_LONG_S,
        application_name="chopho catalog",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlImports:
    """The port of imports; for large catalogues on a database that is `patient`."""

    database: Database

    async def keep(
        self, products: Callable[[], Iterable[ImportedProduct]], *, only_new: bool = False
    ) -> Kept:
        """Staged by COPY, then merged: what does not differ is neither written nor locked.

        With `only_new`, products whose slug is there already are passed over.
        """

        async def work(connection: AsyncConnection) -> Kept:
            await _stage(connection, products())
            await _run(connection, staging.ONLY_NEW if only_new else "", staging.PREPARE)
            taken = (await connection.execute(text(staging.TAKEN))).all()
            if taken:
                raise SkusTaken([TakenSku(line=row.line, sku=row.sku, slug=row.slug) for row in taken])
            return await _merge(connection)

        kept = await self.database.transaction(work)
        if kept.added or kept.changed:
            with suppress(Unavailable):  # it is kept all the same, and autovacuum comes by later
                await self.database.maintain(text(staging.UPKEEP))
        return kept

    async def everything(self) -> AsyncIterator[ImportedProduct]:
        """Batch by batch after the last id: nothing is held open while the caller writes."""
        last = 0
        while rows := await self.database.rows(text(_EXPORT).bindparams(after=last, most=_BATCH)):
            for row in rows:
                yield _product(row)
            last = rows[-1].id


async def _stage(connection: AsyncConnection, products: Iterable[ImportedProduct]) -> None:
    await _run(connection, staging.TURN, staging.TABLES)
    raw = await connection.get_raw_connection()
    driver = cast("psycopg.AsyncConnection[Any]", raw.driver_connection)
    async with driver.cursor() as cursor, cursor.copy(staging.COPY) as copy:
        for product in products:
            await copy.write_row(_staged(product))


async def _merge(connection: AsyncConnection) -> Kept:
    for step in (
        staging.CATEGORIES,
        staging.PRODUCTS,
        staging.LOCK_VARIANTS,
        staging.VARIANTS,
        staging.PICTURES,
    ):
        await connection.execute(text(step))
    counted = (await connection.execute(text(staging.COUNT))).one()
    return Kept(
        added=counted.added,
        changed=counted.touched - counted.added,
        unchanged=counted.products - counted.touched,
    )


async def _run(connection: AsyncConnection, *statements: str) -> None:
    for statement in ";".join(filter(None, statements)).split(";"):
        await connection.execute(text(statement))


def _staged(product: ImportedProduct) -> Sequence[object]:
    """One row of the staging table."""
    description = plain(product.body)
    found = findable(
        name=product.name,
        category=product.category,
        vendor=product.vendor,
        tags=product.tags,
        skus=[variant.sku for variant in product.variants],
        description=description,
    )
    return (
        product.line,
        product.slug,
        product.name,
        description,
        product.body,
        path_segment(product.category),
        product.category,
        product.vendor,
        list(product.tags),
        list(product.options),
        product.visibility == "visible",
        product.visibility if product.visibility in {"draft", "archived"} else None,
        found["search"],
        found["sort_key"],
        found["words"],
        found["head_words"],
        json.dumps([_variant(product.options, *numbered) for numbered in enumerate(product.variants)]),
        json.dumps([_picture(*numbered) for numbered in enumerate(product.pictures)]),
    )


def _variant(options: Sequence[str], position: int, variant: ImportedVariant) -> Mapping[str, object]:
    return {
        "line": variant.line,
        "sku": variant.sku,
        "position": position,
        "name": " / ".join(variant.values),
        "price": variant.price,
        "stock": variant.stock,
        "options": dict(zip(options, variant.values, strict=True)),
        "sells_past_zero": variant.sells_past_zero,
        "grams": variant.grams,
    }


def _picture(position: int, picture: Picture) -> Mapping[str, object]:
    return {"position": position, "source": picture.source, "alt": picture.alt}


_EXPORT: Final = """
SELECT products.id, products.slug, products.name, products.body_html, products.description,
       categories.name AS category, products.vendor, products.tags, products.option_names,
       products.visible, products.hidden_as,
       (SELECT jsonb_agg(jsonb_build_array(sku, options, price, stock, sells_past_zero, grams)
               ORDER BY position, sku)
        FROM variants WHERE variants.product_id = products.id) AS variants,
       (SELECT jsonb_agg(jsonb_build_array(source, alt) ORDER BY position)
        FROM product_pictures WHERE product_pictures.product_id = products.id) AS pictures
FROM products JOIN categories ON categories.id = products.category_id
WHERE products.id > :after AND EXISTS (SELECT FROM variants WHERE variants.product_id = products.id)
ORDER BY products.id LIMIT :most
"""


def _product(row: AnyRow) -> ImportedProduct:
    return ImportedProduct(
        slug=row.slug,
        name=row.name,
        body=row.body_html or html.escape(row.description, quote=False),
        category=row.category,
        vendor=row.vendor,
        tags=tuple(row.tags),
        visibility=_visibility(row),
        options=tuple(row.option_names),
        variants=tuple(
            ImportedVariant(
                sku=sku,
                values=tuple(options.get(name, "") for name in row.option_names),
                price=price,
                stock=stock,
                sells_past_zero=past_zero,
                grams=grams,
            )
            for sku, options, price, stock, past_zero, grams in row.variants
        ),
        pictures=tuple(Picture(source=source, alt=alt) for source, alt in row.pictures or ()),
    )


def _visibility(row: AnyRow) -> Visibility:
    return "visible" if row.visible else (row.hidden_as or "hidden")
