"""The list of all goods, and the form that adds one."""

from __future__ import annotations

from typing import get_args
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.goods import GoodsQuery, ProductDraft, Shelf, checked_options, checked_product
from app.shop.errors import Invalid
from app.shop.text import clean
from app.web.forms import Form, whole_number
from app.web.pages.desk.owner import PATH, deed_of, desk_form, desk_page
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.searching import TEXT_MOST
from app.web.shopping import desk_of


async def goods(request: Request) -> Response:
    """Every product that matches, the newest first."""
    asked = request.query_params
    query = GoodsQuery(
        text=clean("q", asked.get("q", ""), most=TEXT_MOST, least=0),
        shelf=_shelf(asked.get("shelf", "all")),
        page=max(1, whole_number("page", asked.get("page", "1"))),
    )
    found = await desk_of(request).goods.page(query)

    def url(number: int) -> str:
        told = {"q": query.text, "shelf": query.shelf, "page": number}
        return f"{PATH}/san-pham?{urlencode(told)}"

    return await html(request, "desk/goods.html", found=found, query=query, url=url)


async def show(request: Request, entry: Entry) -> Response:
    """The form of a new product."""
    return await html(request, "desk/new.html", status=entry.status, entry=entry)


async def create(request: Request, form: Form) -> Response:
    """Keep it, then show it, so that variants may be added."""
    slug = await desk_of(request).goods.create(
        draft_of(form), deed_of(request, form), options=checked_options(form.text("options"))
    )
    return see_other(f"{PATH}/san-pham/{quote(slug, safe='')}")


def draft_of(form: Form) -> ProductDraft:
    """What the form says of a product; raises `Invalid`."""
    return checked_product(
        name=form.text("name"),
        body=form.text("body"),
        category=form.text("category"),
        vendor=form.text("vendor"),
        tags=form.text("tags"),
        visibility=form.text("visibility"),
    )


def _shelf(text: str) -> Shelf:
    for known in get_args(Shelf):
        if text == known:
            chosen: Shelf = known
            return chosen
    raise Invalid("shelf", f"must be one of {', '.join(get_args(Shelf))}", code="invalid")


routes = [desk_page("/san-pham", goods), desk_form("/san-pham/moi", show, create)]
