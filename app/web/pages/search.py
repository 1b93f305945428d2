"""Search: products by words or by shelf, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from app.shop.catalog import ProductQuery
from app.web.forms import whole_number
from app.web.pages.page import html, page, shown
from app.web.searching import product_query
from app.web.shopping import shop_of

PATH = "/tim-kiem"
PAGE_SIZE = 24


async def search(request: Request) -> Response:
    """The products found, and the shelves to narrow them by."""
    query = _query(request.query_params)
    catalog = shop_of(request).catalog
    categories = await catalog.categories()
    return await html(
        request,
        "search.html",
        query=query,
        categories=categories,
        category=next((each for each in categories if each.slug == query.category), None),
        found=await catalog.page(query),
        page_url=_page_url(query),
    )


def _query(asked: QueryParams) -> ProductQuery:
    return product_query(
        text=asked.get("q", ""),
        category=asked.get("category", ""),
        page=max(1, whole_number("page", asked.get("page", "1"))),
        page_size=PAGE_SIZE,
    )


def _page_url(query: ProductQuery) -> Callable[[int], str]:
    def url(number: int) -> str:
        asked = {"q": query.text, "category": query.category or "", "page": str(number)}
        return f"{PATH}?{urlencode({name: value for name, value in asked.items() if value})}"

    return url


routes = [page(PATH, search, access=shown)]
