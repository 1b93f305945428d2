"""What people tell of themselves."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import shop_of
from app.web.visitors import customer

PATH = "/tai-khoan/ho-so"


async def show(request: Request, entry: Entry) -> Response:
    """The form with what is kept."""
    await customer(request)
    is_saved = "saved" in request.query_params and entry.problem is None
    return await html(request, "profile.html", status=entry.status, entry=entry, is_saved=is_saved)


async def save(request: Request, form: Form) -> Response:
    """Keep it."""
    await shop_of(request).people.change_profile(
        await customer(request),
        name=form.text("name"),
        phone=form.text("phone"),
        language=form.text("language"),
    )
    return see_other(PATH, saved="1")


routes = [page(PATH, form_view(show, save), access=needed, methods=("GET", "POST"))]
