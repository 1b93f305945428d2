"""One product at the desk: its words, its variants, and its end."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.goods import VariantDraft, checked_sku, checked_variant
from app.shop.errors import Invalid, NotFound
from app.web.browsing import price
from app.web.forms import Form
from app.web.pages.desk.goods import draft_of
from app.web.pages.desk.owner import PATH, deed_of, desk_form, desk_upload
from app.web.pages.form import UNTOUCHED, Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.shopping import desk_of, known_name


async def show(request: Request, entry: Entry) -> Response:
    """The product with a form for each thing that may be done to it."""
    found = await desk_of(request).goods.find(_slug(request))
    if found is None:
        raise NotFound("product")
    return await html(
        request, "desk/product.html", status=entry.status, product=found, entry=entry, untouched=UNTOUCHED
    )


async def change(request: Request, form: Form) -> Response:
    """Carry out the one form that was sent."""
    slug, deed, goods = _slug(request), deed_of(request, form), desk_of(request).goods
    match form.text("do"):
        case "change":
            await goods.change(slug, draft_of(form), deed, seen=form.text("seen"))
        case "delete":
            await goods.delete(slug, deed, seen=form.text("seen"))
            return see_other(f"{PATH}/san-pham")
        case "add-variant":
            await goods.add_variant(slug, checked_sku(form.text("sku")), variant_of(form), deed)
        case "change-variant":
            await goods.change_variant(_sku(form), variant_of(form), deed, seen=form.text("seen"))
        case "remove-variant":
            await goods.remove_variant(_sku(form), deed, seen=form.text("seen"))
        case "remove-picture":
            await desk_of(request).pictures.remove(slug, form.text("source"), deed)
        case _:
            raise Invalid("do", "is not one of ours", code="invalid")
    return see_other(f"{PATH}/san-pham/{quote(slug, safe='')}", done="1")


async def add_picture(request: Request, form: Form) -> Response:
    """Look at the picture, keep it, and show it with the product."""
    slug = _slug(request)
    await desk_of(request).add_picture(
        slug, form.file("picture"), deed_of(request, form), alt=form.text("alt")
    )
    return see_other(f"{PATH}/san-pham/{quote(slug, safe='')}", done="1")


def variant_of(form: Form) -> VariantDraft:
    """What the form says of a variant; a value for each option, as `value-1` and on; raises `Invalid`."""
    typed = price("price", form.text("price"))
    if typed is None:
        raise Invalid("price", "must not be empty", code="missing")
    names = sorted(name for name in form.values if name.startswith("value-"))
    return checked_variant(
        values=[form.text(name) for name in names],
        price=typed,
        sells_past_zero=form.text("sells_past_zero") == "1",
        grams=form.text("grams"),
    )


def _slug(request: Request) -> str:
    return known_name("product", request.path_params["slug"])


def _sku(form: Form) -> str:
    return known_name("variant", form.text("sku"))


routes = [
    desk_form("/san-pham/{slug}", show, change),
    desk_upload("/san-pham/{slug}/hinh", show, add_picture),
]
