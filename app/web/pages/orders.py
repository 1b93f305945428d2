"""Own orders."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import NotFound
from app.web.forms import whole_number
from app.web.pages.page import html, needed, page
from app.web.shopping import known_name, shop_of
from app.web.visitors import customer

PAGE_SIZE = 20


async def orders(request: Request) -> Response:
    """Newest first."""
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    found = await shop_of(request).orders.page(await customer(request), page=number, page_size=PAGE_SIZE)
    return await html(request, "orders.html", found=found)


async def order(request: Request) -> Response:
    """One of them."""
    order_id = known_name("order", request.path_params["order_id"])
    found = await shop_of(request).orders.by_id(await customer(request), order_id)
    if found is None:
        raise NotFound("order")
    is_new = "placed" in request.query_params
    return await html(request, "order.html", order=found, is_new=is_new)


routes = [
    page("/don-hang", orders, access=needed),
    page("/don-hang/{order_id}", order, access=needed),
]
