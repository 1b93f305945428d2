"""What a shopper looks for, made safe to ask a store."""

from __future__ import annotations

from app.shop.catalog import ProductQuery
from app.shop.text import clean

TEXT_MOST = 100
"""Characters of a search."""


def product_query(*, text: str, category: str, page: int, page_size: int) -> ProductQuery:
    """The query; raises `Invalid` for what is no text or too long."""
    return ProductQuery(
        text=clean("q", text, most=TEXT_MOST, least=0),
        category=clean("category", category, most=TEXT_MOST, least=0) or None,
        page=page,
        page_size=page_size,
    )
