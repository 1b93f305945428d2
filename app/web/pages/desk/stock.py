"""The stock of one variant: how it came and went, and the form that moves it."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.stock import checked_movement
from app.shop.errors import NotFound
from app.web.forms import Form, whole_number
from app.web.pages.desk.owner import PATH, deed_of, desk_form
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.shopping import desk_of, known_name

_PAGE_SIZE = 50


async def show(request: Request, entry: Entry) -> Response:
    """What is there, and the movements, the newest first; those of a variant that is gone too."""
    sku = _sku(request)
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    kept = await desk_of(request).stock.find(sku)
    found = await desk_of(request).stock.history(sku, page=number, page_size=_PAGE_SIZE)
    if kept is None and not found.total:
        raise NotFound("variant")
    return await html(
        request, "desk/stock.html", status=entry.status, sku=sku, kept=kept, found=found, entry=entry
    )


async def move(request: Request, form: Form) -> Response:
    """Add or take, with the reason."""
    sku = _sku(request)
    quantity, reason, note = checked_movement(
        quantity=form.text("quantity"), reason=form.text("reason"), note=form.text("note")
    )
    await desk_of(request).stock.move(sku, quantity, deed_of(request, form), reason=reason, note=note)
    return see_other(f"{PATH}/kho/{quote(sku, safe='')}", done="1")


def _sku(request: Request) -> str:
    return known_name("variant", request.path_params["sku"])


routes = [desk_form("/kho/{sku:path}", show, move)]
