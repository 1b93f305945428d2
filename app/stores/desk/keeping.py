"""How goods are read and written at the desk: rows into what is kept, drafts into columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import orjson
from sqlalchemy import ColumnElement, func, lateral, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Picture
from app.shop.desk.goods import GoodsRow, KeptProduct, KeptVariant, ProductDraft
from app.shop.importing import Visibility, path_segment, plain
from app.stores.database import AnyRow, AnySelect
from app.stores.search import findable
from app.stores.tables import categories, product_pictures, products, variants

_PRODUCT: Final = (
    products,
    categories.c.name.label("category"),
)


def product(slug: str) -> AnySelect:
    """The product's own row, with the name of its category."""
    return select(*_PRODUCT).join(categories).where(products.c.slug == slug)


def variants_of(product_id: int) -> AnySelect:
    """The product's variants in their order, each with the names of its options."""
    return (
        select(variants, products.c.option_names, products.c.slug)
        .join(products)
        .where(variants.c.product_id == product_id)
        .order_by(variants.c.position, variants.c.sku)
    )


def pictures_of(product_id: int) -> AnySelect:
    """The product's pictures in their order."""
    return (
        select(product_pictures)
        .where(product_pictures.c.product_id == product_id)
        .order_by(product_pictures.c.position)
    )


def list_of(asked: Sequence[ColumnElement[bool]], *, most: int, offset: int) -> AnySelect:
    """Rows of the desk's list, the newest product first."""
    listed = (
        select(*_PRODUCT)
        .join(categories)
        .where(*asked)
        .order_by(products.c.id.desc())
        .limit(most)
        .offset(offset)
        .subquery("listed")
    )
    counted = lateral(
        select(
            func.count().label("variants"), func.coalesce(func.sum(variants.c.stock), 0).label("stock")
        ).where(variants.c.product_id == listed.c.id)
    )
    picture = lateral(
        select(product_pictures.c.source, product_pictures.c.alt)
        .where(product_pictures.c.product_id == listed.c.id)
        .order_by(product_pictures.c.position)
        .limit(1)
    )
    return (
        select(listed, counted, picture)
        .select_from(listed.join(counted, true()).outerjoin(picture, true()))
        .order_by(listed.c.id.desc())
    )


def columns(draft: ProductDraft) -> dict[str, object]:
    """What the draft says, as columns; search words are made once all of it is written."""
    return {
        "name": draft.name,
        "body_html": draft.body,
        "description": plain(draft.body),
        "vendor": draft.vendor,
        "tags": list(draft.tags),
        "visible": draft.visibility == "visible",
        "hidden_as": draft.visibility if draft.visibility in {"draft", "archived"} else None,
        "search": "",
    }


async def category_id(connection: AsyncConnection, name: str) -> int:
    """The category of that name, made where there is none."""
    slug = path_segment(name)
    await connection.execute(insert(categories).values(slug=slug, name=name).on_conflict_do_nothing())
    found: int = (
        await connection.execute(select(categories.c.id).where(categories.c.slug == slug))
    ).scalar_one()
    return found


async def refresh_search(connection: AsyncConnection, product_id: int) -> None:
    """Make what the product is found and sorted by of what is kept of it now."""
    row = (
        await connection.execute(select(*_PRODUCT).join(categories).where(products.c.id == product_id))
    ).one()
    skus = select(variants.c.sku).where(variants.c.product_id == product_id).order_by(variants.c.position)
    found = findable(
        name=row.name,
        category=row.category,
        vendor=row.vendor,
        tags=row.tags,
        skus=(await connection.execute(skus)).scalars().all(),
        description=row.description,
    )
    await connection.execute(update(products).where(products.c.id == product_id).values(found))


def kept_product(row: AnyRow, kept: Sequence[AnyRow], shown: Sequence[AnyRow]) -> KeptProduct:
    """A product of its rows."""
    return KeptProduct(
        slug=row.slug,
        name=row.name,
        body=row.body_html,
        category=row.category,
        vendor=row.vendor,
        tags=row.tags,
        visibility=visibility_of(row),
        options=row.option_names,
        variants=[_kept_variant(each) for each in kept],
        pictures=[Picture(source=each.source, alt=each.alt) for each in shown],
        seen=product_seen(row),
    )


def goods_row(row: AnyRow) -> GoodsRow:
    """A row of the list."""
    return GoodsRow(
        slug=row.slug,
        name=row.name,
        category=row.category,
        visibility=visibility_of(row),
        variants=row.variants,
        price_from=row.price_from,
        stock=row.stock,
        picture=None if row.source is None else Picture(source=row.source, alt=row.alt),
    )


def visibility_of(row: AnyRow) -> Visibility:
    """Whether shoppers see the product, and why not."""
    return "visible" if row.visible else (row.hidden_as or "hidden")


def told_product(row: AnyRow) -> dict[str, object]:
    """What is kept of a product, as the audit log tells it."""
    return {
        "name": row.name,
        "category": row.category,
        "vendor": row.vendor,
        "tags": list(row.tags),
        "visibility": visibility_of(row),
        "body": row.body_html,
    }


def told_variant(row: AnyRow) -> dict[str, object]:
    """What is kept of a variant, but for its stock."""
    return {
        "sku": row.sku,
        "values": list(values_of(row)),
        "price": row.price,
        "sells_past_zero": row.sells_past_zero,
        "grams": row.grams,
    }


def values_of(row: AnyRow) -> tuple[str, ...]:
    """A variant's options in the order of their names."""
    return tuple(row.options.get(name, "") for name in row.option_names)


def product_seen(row: AnyRow) -> str:
    """Names this state of what the product's form changes, whichever release or import wrote it."""
    return _digest(told_product(row))


def variant_seen(row: AnyRow) -> str:
    """Names this state of what the variant's form changes; sales do not touch it."""
    return _digest(told_variant(row))


def _kept_variant(row: AnyRow) -> KeptVariant:
    return KeptVariant(
        sku=row.sku,
        name=row.name,
        values=values_of(row),
        price=row.price,
        stock=row.stock,
        sells_past_zero=row.sells_past_zero,
        grams=row.grams,
        seen=variant_seen(row),
    )


def _digest(told: Mapping[str, object]) -> str:
    return hashlib.blake2b(orjson.dumps(told), digest_size=12).hexdigest()
