"""Everybody's orders: the list, one of them, and its next step."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.orders import BookQuery
from app.shop.errors import Invalid, NotFound
from app.shop.fulfilment import BY_HAND
from app.shop.orders import NEXT, STATUSES, Order, OrderStatus
from app.shop.text import clean
from app.web.forms import Form, day
from app.web.pages.desk.owner import PATH, deed_of, desk_form, desk_page
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.proof import proved
from app.web.redirects import see_other
from app.web.shopping import desk_of, known_name, shop_of

_NUMBER: Final = re.compile(r"(?:[0-9]{6}-)?0*([0-9]{1,12})", re.ASCII)
_PLACE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_NOTE_MOST: Final = 300
_GIVES_BACK: Final[frozenset[OrderStatus]] = frozenset({"cancelled", "refunded"})


async def orders(request: Request) -> Response:
    """The newest first, narrowed by status, days and number."""
    query = _query(request)
    found = await desk_of(request).orders.page(query)
    told = {name: request.query_params.get(name, "") for name in ("status", "since", "until", "number")}
    older = (
        f"{PATH}/don-hang?{urlencode({**told, 'before': found.next_before})}" if found.next_before else None
    )
    return await html(request, "desk/orders.html", found=found, told=told, older=older, statuses=STATUSES)


async def show(request: Request, entry: Entry) -> Response:
    """The order, what happened to it, and the steps that it may take."""
    order = await _order(request)
    events = await shop_of(request).orders.history(order.id)
    customer = await shop_of(request).accounts.by_id(order.account_id) if order.account_id else None
    steps = [status for status in STATUSES if status in NEXT[order.status] & BY_HAND]
    return await html(
        request,
        "desk/order.html",
        status=entry.status,
        order=order,
        customer=customer,
        events=events,
        steps=steps,
        entry=entry,
    )


async def move(request: Request, form: Form) -> Response:
    """Take the step; again, it is there already. One that gives money back asks for the password first."""
    order, deed = await _order(request), deed_of(request, form)
    to, note = _status("to", form.text("to")), clean("note", form.text("note"), most=_NOTE_MOST, least=0)
    if to in _GIVES_BACK:
        await proved(request)
    await shop_of(request).move_order(order.id, to=to, by=deed, note=note)
    return see_other(f"{PATH}/don-hang/{quote(order.id, safe='')}", done="1")


async def _order(request: Request) -> Order:
    found = await desk_of(request).orders.find(known_name("order", request.path_params["order_id"]))
    if found is None:
        raise NotFound("order")
    return found


def _query(request: Request) -> BookQuery:
    asked = request.query_params
    status, number, before = asked.get("status", ""), asked.get("number", "").strip(), asked.get("before", "")
    return BookQuery(
        status=_status("status", status) if status else None,
        since=day("since", asked.get("since", "")),
        until=day("until", asked.get("until", "")),
        number=_matched("number", _NUMBER, number),
        before=_matched("before", _PLACE, before),
    )


def _matched(name: str, wanted: re.Pattern[str], text: str) -> int | None:
    if not text:
        return None
    found = wanted.fullmatch(text)
    if found is None:
        raise Invalid(name, "must be a number such as 261130-000042", code="number_invalid")
    return int(found[found.re.groups])


def _status(name: str, text: str) -> OrderStatus:
    found = next((status for status in STATUSES if status == text), None)
    if found is None:
        raise Invalid(name, f"must be one of {', '.join(STATUSES)}", code="status_invalid")
    return found


routes = [desk_page("/don-hang", orders), desk_form("/don-hang/{order_id}", show, move)]
