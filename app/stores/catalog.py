"""The catalogue in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Text, any_, case, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from app.shop.catalog import (
    UNCOUNTED,
    Category,
    Offer,
    Picture,
    Product,
    ProductQuery,
    ProductSummary,
    Sku,
    Variant,
)
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.shop.vietnamese import collation_key
from app.stores import listing
from app.stores.database import AnyRow, Database
from app.stores.tables import categories, product_pictures, products, variants


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCatalog:
    """The catalogue's port on the tables `categories`, `products` and `variants`."""

    database: Database

    async def page(self, query: ProductQuery) -> Page[ProductSummary]:
        """One query: the page's rows carry the total; a page past the last asks for the total alone."""
        offset = offset_of(query.page, query.page_size)
        if not storable(query.text) or not storable(query.category or ""):
            return Page(items=[], total=0, page=query.page, page_size=query.page_size)
        rows = await self.database.rows(listing.summaries(query, offset=offset))
        total = rows[0].total if rows else await self._total(query) if offset else 0
        items = [listing.summary(row) for row in rows]
        return Page(items=items, total=total, page=query.page, page_size=query.page_size)

    async def _total(self, query: ProductQuery) -> int:
        counted = await self.database.row(listing.total(query))
        return int(counted[0]) if counted else 0

    async def categories(self) -> Sequence[Category]:
        """Counted along an index before the names are joined; sorted here, since a database puts Đ after Z."""
        shelved = (
            select(products.c.category_id, func.count().label("products"))
            .where(products.c.visible, products.c.price_from.is_not(None))
            .group_by(products.c.category_id)
            .subquery("shelved")
        )
        rows = await self.database.rows(
            select(categories.c.slug, categories.c.name, shelved.c.products).join(
                shelved, shelved.c.category_id == categories.c.id
            )
        )
        found = [Category(slug=row.slug, name=row.name, products=row.products) for row in rows]
        return sorted(found, key=lambda category: collation_key(category.name))

    async def product(self, slug: str) -> Product | None:
        """One query: a row for each variant, each with the product's own columns."""
        if not storable(slug):
            return None
        rows = await self.database.rows(
            select(
                products.c.slug,
                products.c.name,
                products.c.description,
                products.c.body_html,
                products.c.vendor,
                products.c.option_names,
                categories.c.name.label("category"),
                categories.c.slug.label("category_slug"),
                variants.c.sku,
                variants.c.name.label("variant"),
                variants.c.price,
                sellable.label("stock"),
                variants.c.options,
                _PICTURES.label("pictures"),
            )
            .select_from(_SHELVES.join(variants))
            .where(products.c.slug == slug, products.c.visible)
            .order_by(variants.c.position, variants.c.sku)
        )
        return _product(rows) if rows else None

    async def offers(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        """One query for all of them."""
        wanted = sorted({sku for sku in skus if storable(sku)})
        if not wanted:
            return {}
        rows = await self.database.rows(
            select(
                variants.c.sku,
                variants.c.name.label("variant"),
                variants.c.price,
                sellable.label("stock"),
                variants.c.grams,
                products.c.slug,
                products.c.name,
                _PICTURES.label("pictures"),
            )
            .join(products)
            .where(variants.c.sku == any_(literal(wanted, ARRAY(Text))), products.c.visible)
        )
        return {row.sku: _offer(row) for row in rows}

    async def summaries(self, slugs: Sequence[str]) -> Sequence[ProductSummary]:
        """One query."""
        wanted = [slug for slug in slugs if storable(slug)]
        rows = await self.database.rows(listing.named(wanted)) if wanted else []
        return [listing.summary(row) for row in rows]


_SHELVES: Final = products.join(categories)

sellable: Final = case((variants.c.sells_past_zero, UNCOUNTED), else_=variants.c.stock)
"""The units of a variant that can be sold now."""

_PICTURES: Final = (
    select(
        func.jsonb_agg(
            aggregate_order_by(
                func.jsonb_build_array(product_pictures.c.source, product_pictures.c.alt),
                product_pictures.c.position,
            )
        )
    )
    .where(product_pictures.c.product_id == products.c.id)
    .scalar_subquery()
)


def full_name(product: str, variant: str) -> str:
    """The name of a thing to buy: the product's, and the variant's where there are several."""
    return f"{product} ({variant})" if variant else product


def _product(rows: Sequence[AnyRow]) -> Product:
    first = rows[0]
    return Product(
        slug=first.slug,
        name=first.name,
        description=first.description,
        category=first.category,
        variants=[_variant(row) for row in rows],
        body=first.body_html,
        category_slug=first.category_slug,
        vendor=first.vendor,
        pictures=_pictures(first),
    )


def _variant(row: AnyRow) -> Variant:
    """Its options in the product's order, which JSON does not keep."""
    options = {name: row.options[name] for name in row.option_names if name in row.options}
    return Variant(sku=row.sku, name=row.variant, price=row.price, stock=row.stock, options=options)


def _offer(row: AnyRow) -> Offer:
    return Offer(
        sku=row.sku,
        slug=row.slug,
        name=full_name(row.name, row.variant),
        price=row.price,
        stock=row.stock,
        picture=next(iter(_pictures(row)), None),
        grams=row.grams,
    )


def _pictures(row: AnyRow) -> Sequence[Picture]:
    return [Picture(source=source, alt=alt) for source, alt in row.pictures or ()]
