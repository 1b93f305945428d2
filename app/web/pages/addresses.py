"""Addresses that are kept for the next orders."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.addresses import Address, Place
from app.shop.errors import NotFound
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import known_name, shop_of
from app.web.visitors import customer

PATH = "/tai-khoan/dia-chi"


async def show(request: Request, entry: Entry) -> Response:
    """All of them, and a form for one more."""
    addresses = await shop_of(request).people.addresses.of(await customer(request))
    return await html(request, "addresses.html", status=entry.status, entry=entry, addresses=addresses)


async def add(request: Request, form: Form) -> Response:
    """Keep one more."""
    await shop_of(request).people.keep_address(
        await customer(request), place_in(form), is_default=form.text("default") == "1"
    )
    return see_other(PATH)


async def show_one(request: Request, entry: Entry) -> Response:
    """One of them, to be changed or removed."""
    address = await _address(request)
    return await html(request, "address.html", status=entry.status, entry=entry, address=address)


async def change(request: Request, form: Form) -> Response:
    """Replace it, or forget it."""
    people, account_id = shop_of(request).people, await customer(request)
    address_id = known_name("address", request.path_params["address_id"])
    if form.text("remove"):
        await people.addresses.remove(account_id, address_id)
    else:
        is_default = form.text("default") == "1"
        await people.keep_address(account_id, place_in(form), address_id=address_id, is_default=is_default)
    return see_other(PATH)


def place_in(form: Form) -> Place:
    """The place that was typed."""
    return Place(
        name=form.text("name"),
        phone=form.text("phone"),
        address=form.text("address"),
        province=form.text("province"),
    )


async def _address(request: Request) -> Address:
    address_id = request.path_params["address_id"]
    for address in await shop_of(request).people.addresses.of(await customer(request)):
        if address.id == address_id:
            return address
    raise NotFound("address")


routes = [
    page(PATH, form_view(show, add), access=needed, methods=("GET", "POST")),
    page(PATH + "/{address_id}", form_view(show_one, change), access=needed, methods=("GET", "POST")),
]
