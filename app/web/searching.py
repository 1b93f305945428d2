"""What a shopper looks for, made safe to ask a store."""

from __future__ import annotations

from typing import Final

from app.shop.catalog import ProductQuery
from app.shop.text import clean

TEXT_MOST: Final = 100
"""Characters of a search."""


def product_query(*, text: str, category: str, page: int, page_size: int) -> ProductQuery:
    """The query; raises `Invalid` for what is no text or too long."""
    return ProductQuery(
        text=sought("q", text), category=shelf("category", category), page=page, page_size=page_size
    )


def sought(name: str, text: str) -> str:
    """The words that are looked for; raises `Invalid`."""
    return clean(name, text, most=TEXT_MOST, least=0)


def shelf(name: str, text: str) -> str | None:
    """The category that is looked in, None for all; raises `Invalid`."""
    return clean(name, text, most=TEXT_MOST, least=0) or None
