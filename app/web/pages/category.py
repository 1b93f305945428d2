"""A shelf of the shop with all that is on it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import NotFound
from app.web.browsing import browsing
from app.web.pages.page import html, page, shown
from app.web.shopping import known_name, shop_of

PATH = "/danh-muc/"


async def category(request: Request) -> Response:
    """The products of the shelf in the path."""
    slug = known_name("category", request.path_params["slug"])
    catalog = shop_of(request).catalog
    categories = await catalog.categories()
    shelf = next((each for each in categories if each.slug == slug), None)
    if shelf is None:
        raise NotFound("category")
    asked = browsing(PATH + slug, request.query_params, category=slug)
    found = await catalog.page(asked.query)
    return await html(
        request,
        "category.html",
        status=asked.filters.status,
        asked=asked,
        categories=categories,
        shelf=shelf,
        found=found,
    )


routes = [page("/danh-muc/{slug}", category, access=shown)]
