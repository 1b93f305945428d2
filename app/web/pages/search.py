"""Search: products by words or by shelf, a page at a time."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.web.browsing import browsing
from app.web.pages.page import html, page, shown
from app.web.shopping import shop_of

PATH = "/tim-kiem"


async def search(request: Request) -> Response:
    """The products found, and the shelves to narrow them by."""
    asked = browsing(PATH, request.query_params)
    catalog = shop_of(request).catalog
    categories = await catalog.categories()
    shelf = next((each for each in categories if each.slug == asked.query.category), None)
    found = await catalog.page(asked.query)
    return await html(
        request,
        "search.html",
        status=asked.filters.status,
        asked=asked,
        categories=categories,
        shelf=shelf,
        found=found,
    )


routes = [page(PATH, search, access=shown)]
