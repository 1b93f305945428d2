"""Home: every shelf of the shop with its first products."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.catalog import ProductQuery
from app.web.pages.page import html, page, shown
from app.web.shopping import shop_of

SHELVES_MOST = 12
PRODUCTS_MOST = 6
"""A shelf shows two rows on a phone, one on a desk."""


async def home(request: Request) -> Response:
    """The shelves, in the order of their names."""
    catalog = shop_of(request).catalog
    categories = await catalog.categories()
    shelves = [
        (category, await catalog.page(ProductQuery(category=category.slug, page_size=PRODUCTS_MOST)))
        for category in categories[:SHELVES_MOST]
    ]
    return await html(request, "home.html", shelves=shelves)


routes = [page("/", home, access=shown)]
