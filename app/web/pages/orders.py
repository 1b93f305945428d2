"""Own orders: the list, one of them, its printed form, and its end."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.shop.checkout import take_out
from app.shop.errors import Invalid, NotFound
from app.shop.orders import LISTED, STATUSES, Order, OrderQuery, OrderStatus
from app.web.filters import Filters, page_number
from app.web.forms import day, read_form
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import cart_of, known_name, shop_of
from app.web.visitors import customer, owner

PAGE_SIZE: Final = 20
FOLLOWED: Final = "/don-hang/theo-doi/"


async def orders(request: Request) -> Response:
    """Newest first, narrowed by status and by Vietnam's days."""
    filters = Filters(typed=request.query_params)
    asked = _query(filters)
    found = await shop_of(request).orders.page(await customer(request), asked)

    def url(number: int) -> str:
        told = {
            "status": asked.status or "",
            "since": "" if asked.since is None else str(asked.since),
            "until": "" if asked.until is None else str(asked.until),
            "page": str(number),
        }
        return f"/don-hang?{urlencode({name: value for name, value in told.items() if value})}"

    return await html(
        request,
        "orders.html",
        status=filters.status,
        found=found,
        asked=asked,
        filters=filters,
        url=url,
        statuses=LISTED,
    )


async def order(request: Request) -> Response:
    """One of them."""
    found = await _own(request)
    cart = cart_of(request)
    if (await cart.read()).cart_id == found.cart_id:
        # Confirmed while its shopper was at their bank, or by another replica after a crash.
        await take_out(cart, found)
    events = await shop_of(request).orders.history(found.id)
    is_new = "placed" in request.query_params
    follow = shop_of(request).guest_links.path(found.id) if found.guest else None
    return await html(
        request,
        "order.html",
        order=found,
        events=events,
        is_new=is_new,
        follow=follow,
        path=_path(found.id),
    )


async def followed(request: Request) -> Response:
    """A guest's order, for whoever has its link; no other site and no search engine learns of it."""
    found = await _linked(request)
    events = await shop_of(request).orders.history(found.id)
    path = shop_of(request).guest_links.path(found.id)
    return _unlisted(
        await html(request, "order.html", order=found, events=events, is_new=False, follow=None, path=path)
    )


async def followed_printed(request: Request) -> Response:
    """The same, on paper."""
    found = await _linked(request)
    path = shop_of(request).guest_links.path(found.id)
    return _unlisted(await html(request, "order_print.html", order=found, path=path))


async def followed_cancel(request: Request) -> Response:
    """Cancel it, if it is not packed yet; the link is all that this needs, and again it is cancelled already."""
    await read_form(request)
    found = await _linked(request)
    await shop_of(request).cancel_order(account_id=str(found.owner), order_id=found.id)
    return see_other(shop_of(request).guest_links.path(found.id))


async def followed_led_back(request: Request) -> Response:
    """Whoever comes by GET to where only the form is sent."""
    return see_other(shop_of(request).guest_links.path((await _linked(request)).id))


async def printed(request: Request) -> Response:
    """One of them, on paper."""
    found = await _own(request)
    return await html(request, "order_print.html", order=found, path=_path(found.id))


async def cancel(request: Request) -> Response:
    """Cancel it, if it is not packed yet."""
    await read_form(request)
    order_id = known_name("order", request.path_params["order_id"])
    await shop_of(request).cancel_order(account_id=await owner(request), order_id=order_id)
    return see_other(_path(order_id))


async def led_back(request: Request) -> Response:
    """Whoever comes by GET to where only the form is sent."""
    return see_other(_path(request.path_params["order_id"]))


def _path(order_id: str) -> str:
    return f"/don-hang/{quote(order_id, safe='')}"


async def _linked(request: Request) -> Order:
    return await shop_of(request).follow_order(request.path_params["token"])


def _unlisted(response: Response) -> Response:
    response.headers["x-robots-tag"] = "noindex"
    return response


async def _own(request: Request) -> Order:
    order_id = known_name("order", request.path_params["order_id"])
    found = await shop_of(request).orders.by_id(await owner(request), order_id)
    if found is None:
        raise NotFound("order")
    return found


def _query(filters: Filters) -> OrderQuery:
    return OrderQuery(
        page=filters.read("page", page_number, otherwise=1),
        page_size=PAGE_SIZE,
        status=filters.read("status", _status, otherwise=None),
        since=filters.read("since", day, otherwise=None),
        until=filters.read("until", day, otherwise=None),
    )


def _status(name: str, text: str) -> OrderStatus:
    found = next((status for status in STATUSES if status == text), None)
    if found is None:
        raise Invalid(name, f"must be one of {', '.join(STATUSES)}", code="status_invalid")
    return found


routes = [
    page("/don-hang", orders, access=needed),
    page(f"{FOLLOWED}{{token}}", followed, access=needed),
    page(f"{FOLLOWED}{{token}}/in", followed_printed, access=needed),
    page(f"{FOLLOWED}{{token}}/huy", followed_cancel, access=needed, methods=("POST",)),
    Route(f"{FOLLOWED}{{token}}/huy", followed_led_back, name=f"{FOLLOWED}{{token}}/huy by GET"),
    page("/don-hang/{order_id}", order, access=needed),
    page("/don-hang/{order_id}/in", printed, access=needed),
    page("/don-hang/{order_id}/huy", cancel, access=needed, methods=("POST",)),
    Route("/don-hang/{order_id}/huy", led_back, name="/don-hang/{order_id}/huy by GET"),
]
