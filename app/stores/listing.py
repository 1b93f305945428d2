"""One page of products: what matches, in which order, and how many there are, in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import CTE, REAL, ColumnElement, FromClause, Text, any_, cast, func, literal, select, true
from sqlalchemy.dialects.postgresql import ARRAY

from app.shop.catalog import Picture, ProductQuery, ProductSummary, Sort
from app.shop.vietnamese import folded
from app.stores.database import AnyRow, AnySelect
from app.stores.finding import asked_of
from app.stores.finding import found as found_by
from app.stores.search import SEARCH_MOST
from app.stores.tables import categories, product_pictures, products

_WEIGHTS: Final = [0.0, 0.0, 0.4, 1.0]
"""Of (unused, unused,) labels and the name; a product found by its description alone comes last."""


_SORTED_BY: Final[Mapping[Sort, Sequence[ColumnElement[Any]]]] = {
    "name": (products.c.sort_key,),
    "cheapest": (products.c.price_from,),
    "dearest": (products.c.price_from,),
}


def summaries(query: ProductQuery, *, offset: int) -> AnySelect:
    """The page's rows in order, each with the number of all matches as `total`."""
    found = _found(query)
    # The page is cut out before it is numbered: numbering first would sort every match to the end.
    cut = select(found).order_by(*_order(query, found)).limit(query.page_size).offset(offset).subquery("cut")
    listed = select(cut.c.id, func.row_number().over(order_by=_order(query, cut)).label("place")).cte(
        "listed"
    )
    return _shown(listed, _total(query, found).label("total"))


def named(slugs: Sequence[str]) -> AnySelect:
    """The visible products of those slugs, in their order."""
    wanted = literal(list(slugs), ARRAY(Text))
    listed = (
        select(products.c.id, func.array_position(wanted, products.c.slug).label("place"))
        .where(products.c.slug == any_(wanted), products.c.visible, products.c.price_from.is_not(None))
        .cte("listed")
    )
    return _shown(listed)


def _shown(listed: CTE, *more: ColumnElement[Any]) -> AnySelect:
    """What a list shows of each product in `listed`, in the order of its `place`."""
    picture = (
        select(product_pictures.c.source, product_pictures.c.alt)
        .where(product_pictures.c.product_id == products.c.id)
        .order_by(product_pictures.c.position)
        .limit(1)
        .lateral("picture")
    )
    shown = listed.join(products, products.c.id == listed.c.id).join(categories).outerjoin(picture, true())
    return (
        select(
            products.c.slug,
            products.c.name,
            categories.c.name.label("category"),
            products.c.price_from,
            products.c.in_stock,
            picture.c.source,
            picture.c.alt,
            *more,
        )
        .select_from(shown)
        .order_by(listed.c.place)
    )


def total(query: ProductQuery) -> AnySelect:
    """The number of all matches alone."""
    return select(_total(query, _found(query)))


def summary(row: AnyRow) -> ProductSummary:
    """A row of `summaries` or `named`."""
    return ProductSummary(
        slug=row.slug,
        name=row.name,
        category=row.category,
        price=row.price_from,
        in_stock=row.in_stock,
        picture=None if row.source is None else Picture(source=row.source, alt=row.alt),
    )


def _found(query: ProductQuery) -> FromClause:
    """The matches and what they are sorted by.

    Of a search they are gathered once, for the page and for its total. Without one there are two questions
    to the table, so that the page itself is the beginning of a walk along an index.
    """
    columns: list[ColumnElement[Any]] = [products.c.id, *_SORTED_BY.get(query.sort, ())]
    if not query.text.strip():
        return select(*columns).where(*_shown_by(query)).subquery("found")
    if query.sort == "best":
        phrase = folded(query.text[:SEARCH_MOST])
        columns.append(func.starts_with(products.c.search, phrase).label("begins"))
        weights, asked = cast(_WEIGHTS, ARRAY(REAL)), asked_of(query.text)
        columns.append(func.ts_rank(weights, products.c.head_words, asked).label("rank"))
    return found_by(query.text, columns, _shown_by(query))


def _shown_by(query: ProductQuery) -> Sequence[ColumnElement[bool]]:
    """What shoppers may see, and the filters let through."""
    asked: list[ColumnElement[bool]] = [products.c.visible, products.c.price_from.is_not(None)]
    if query.category is not None:
        shelf = select(categories.c.id).where(categories.c.slug == query.category).scalar_subquery()
        asked.append(products.c.category_id == shelf)
    if query.price_least is not None:
        asked.append(products.c.price_from >= query.price_least)
    if query.price_most is not None:
        asked.append(products.c.price_from <= query.price_most)
    if query.in_stock:
        asked.append(products.c.in_stock)
    return asked


def _total(query: ProductQuery, found: FromClause) -> ColumnElement[int]:
    gathered = found if query.text.strip() else _found(query)
    return select(func.count()).select_from(gathered).scalar_subquery()


def _order(query: ProductQuery, found: FromClause) -> Sequence[ColumnElement[Any]]:
    """Always down to the id, so that no product is on two pages."""
    match query.sort:
        case "name":
            return found.c.sort_key, found.c.id
        case "cheapest":
            return found.c.price_from, found.c.id
        case "dearest":
            return found.c.price_from.desc(), found.c.id.desc()
        case "newest":
            return (found.c.id.desc(),)
        case "best" if query.text.strip():
            return found.c.begins.desc(), found.c.rank.desc(), found.c.id
        case _:
            return (found.c.id,)
