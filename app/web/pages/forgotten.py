"""A forgotten password: asking for a link, and setting a new password by it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import PASSWORD_LEAST
from app.shop.forgotten import PATH as BY_LINK
from app.web.forms import Form
from app.web.language import language
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import client_of, shop_of

PATH = "/quen-mat-khau"


async def show(request: Request, entry: Entry) -> Response:
    """The form, or that a link is on its way if anybody has that e-mail."""
    is_asked = "asked" in request.query_params and entry.problem is None
    return await html(request, "forgotten.html", status=entry.status, entry=entry, is_asked=is_asked)


async def ask(request: Request, form: Form) -> Response:
    """Have a link sent."""
    await shop_of(request).people.forgot_password(
        email=form.text("email"), client=client_of(request), language=language()
    )
    return see_other(PATH, asked="1")


async def show_reset(request: Request, entry: Entry) -> Response:
    """The form for a new password, as long as the link is good. Opening it, as mail scanners do, uses nothing up."""
    token = entry.value("token") or request.query_params.get("token", "")
    await shop_of(request).people.reset_password.holder(token)
    return await html(
        request, "reset.html", status=entry.status, entry=entry, token=token, password_least=PASSWORD_LEAST
    )


async def reset(request: Request, form: Form) -> Response:
    """Set it, then lead to the log-in."""
    await shop_of(request).people.reset_password(token=form.text("token"), new=form.text("new"))
    return see_other("/dang-nhap", reset="1")


routes = [
    page(PATH, form_view(show, ask), access=needed, methods=("GET", "POST")),
    page(BY_LINK, form_view(show_reset, reset), access=needed, methods=("GET", "POST")),
]
