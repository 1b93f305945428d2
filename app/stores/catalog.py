"""The catalogue in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Text, and_, any_, case, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.shop.catalog import Category, Offer, Product, ProductQuery, ProductSummary, Sku, Variant
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.shop.vietnamese import collation_key, folded
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.tables import categories, products, variants

SEARCH_MOST: Final = 200
"""Characters of a search; nobody types more, and each word of it is looked for in every product."""


def search_text(*, name: str, category: str, skus: Iterable[Sku]) -> str:
    """What a product is found by: its name first, so that a match at the beginning is one of the name."""
    return folded(" ".join((name, category, *skus)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCatalog:
    """The catalogue's port on the tables `categories`, `products` and `variants`."""

    database: Database

    async def page(self, query: ProductQuery) -> Page[ProductSummary]:
        """One query: the page's rows carry the total; a page past the last asks for the total alone."""
        offset = offset_of(query.page, query.page_size)
        if not storable(query.text) or not storable(query.category or ""):
            return Page(items=[], total=0, page=query.page, page_size=query.page_size)
        matching = _matching(query)
        rows = await self.database.rows(_summaries(query, matching, offset))
        total = rows[0].total if rows else await self._count(matching) if offset else 0
        return Page(
            items=[_summary(row) for row in rows], total=total, page=query.page, page_size=query.page_size
        )

    async def _count(self, matching: ColumnElement[bool]) -> int:
        counted = await self.database.row(select(func.count()).select_from(_SHELVES).where(matching))
        return int(counted[0]) if counted else 0

    async def categories(self) -> Sequence[Category]:
        """Sorted here: the database's own order puts Đ after Z."""
        rows = await self.database.rows(
            select(categories.c.slug, categories.c.name, func.count().label("products"))
            .select_from(_SHELVES)
            .where(products.c.visible)
            .group_by(categories.c.id)
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
                categories.c.name.label("category"),
                variants.c.sku,
                variants.c.name.label("variant"),
                variants.c.price,
                variants.c.stock,
                variants.c.options,
            )
            .select_from(_SHELVES.join(variants))
            .where(products.c.slug == slug, products.c.visible)
            .order_by(variants.c.position)
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
                variants.c.stock,
                products.c.slug,
                products.c.name,
            )
            .join(products)
            .where(variants.c.sku == any_(literal(wanted, ARRAY(Text))), products.c.visible)
        )
        return {row.sku: _offer(row) for row in rows}


_SHELVES: Final = products.join(categories)


def full_name(product: str, variant: str) -> str:
    """The name of a thing to buy: the product's, and the variant's where there are several."""
    return f"{product} ({variant})" if variant else product


def _summaries(query: ProductQuery, matching: ColumnElement[bool], offset: int) -> AnySelect:
    """The page first, then the cheapest price of what is on it, so that no other price is looked up."""
    order = (_rank(query), products.c.id)
    chosen = (
        select(
            products.c.id,
            products.c.slug,
            products.c.name,
            categories.c.name.label("category"),
            func.count().over().label("total"),
            func.row_number().over(order_by=order).label("place"),
        )
        .select_from(_SHELVES)
        .where(matching)
        .order_by(*order)
        .limit(query.page_size)
        .offset(offset)
        .cte("chosen")
    )
    return (
        select(
            chosen.c.slug,
            chosen.c.name,
            chosen.c.category,
            chosen.c.total,
            func.min(variants.c.price).label("price"),
            func.bool_or(variants.c.stock > 0).label("in_stock"),
        )
        .join_from(chosen, variants, variants.c.product_id == chosen.c.id)
        .group_by(*chosen.c)
        .order_by(chosen.c.place)
    )


def _words(query: ProductQuery) -> list[str]:
    return folded(query.text[:SEARCH_MOST]).split()


def _matching(query: ProductQuery) -> ColumnElement[bool]:
    """Every word of the search somewhere in the product, character for character."""
    found = [products.c.search.contains(word, autoescape=True) for word in _words(query)]
    shelf = [categories.c.slug == query.category] if query.category is not None else []
    return and_(products.c.visible, *found, *shelf)


def _rank(query: ProductQuery) -> ColumnElement[int]:
    """Names that begin with the words as typed, then products that hold them so, then the rest."""
    phrase = " ".join(_words(query))
    return case(
        (products.c.search.startswith(phrase, autoescape=True), 0),
        (products.c.search.contains(phrase, autoescape=True), 1),
        else_=2,
    )


def _summary(row: AnyRow) -> ProductSummary:
    return ProductSummary(
        slug=row.slug, name=row.name, category=row.category, price=row.price, in_stock=row.in_stock
    )


def _product(rows: Sequence[AnyRow]) -> Product:
    first = rows[0]
    return Product(
        slug=first.slug,
        name=first.name,
        description=first.description,
        category=first.category,
        variants=[
            Variant(sku=row.sku, name=row.variant, price=row.price, stock=row.stock, options=row.options)
            for row in rows
        ],
    )


def _offer(row: AnyRow) -> Offer:
    return Offer(
        sku=row.sku,
        slug=row.slug,
        name=full_name(row.name, row.variant),
        price=row.price,
        stock=row.stock,
    )
