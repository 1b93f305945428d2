"""Vouchers at the desk: the list with their uses, the form of a new one, and their end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.vouchers import checked_terms
from app.shop.errors import Invalid
from app.shop.pricing import Voucher, voucher_code
from app.web.browsing import price
from app.web.forms import Form, day, whole_number
from app.web.pages.desk.owner import PATH, deed_of, desk_form
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.shopping import desk_of

VOUCHERS: Final = f"{PATH}/ma-giam-gia"
_PAGE_SIZE: Final = 50


async def show(request: Request, entry: Entry) -> Response:
    """The newest first, and the form of another one."""
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    found = await desk_of(request).vouchers.page(page=number, page_size=_PAGE_SIZE)
    return await html(
        request, "desk/vouchers.html", status=entry.status, found=found, now=datetime.now(UTC), entry=entry
    )


async def change(request: Request, form: Form) -> Response:
    """Make one, or end one."""
    now, deed = datetime.now(UTC), deed_of(request, form)
    match form.text("do"):
        case "add":
            await desk_of(request).vouchers.add(_typed(form, now), deed)
        case "end":
            await desk_of(request).vouchers.end(voucher_code(form.text("ended")), deed, at=now)
        case _:
            raise Invalid("do", "is not one of ours", code="invalid")
    return see_other(VOUCHERS, done="1")


def _typed(form: Form, now: datetime) -> Voucher:
    kind = form.text("kind")
    if kind not in {"amount", "percent"}:
        raise Invalid("kind", "must be amount or percent", code="invalid")
    return checked_terms(
        code=form.text("code"),
        kind=kind,
        off=price("off", form.text("off")),
        at_most=price("at_most", form.text("at_most")),
        minimum=price("minimum", form.text("minimum")),
        since=day("since", form.text("since")),
        until=day("until", form.text("until")),
        limit=_number(form, "limit"),
        limit_each=_number(form, "limit_each"),
        now=now,
    )


def _number(form: Form, name: str) -> int | None:
    text = form.text(name).strip()
    return whole_number(name, text, code="quantity_invalid") if text else None


routes = [desk_form("/ma-giam-gia", show, change)]
