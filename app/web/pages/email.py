"""Another e-mail: asked for with the password, confirmed by a link that goes to the new address."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.emails import PATH as BY_LINK
from app.web.forms import Form
from app.web.language import language
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.proof import proved
from app.web.redirects import see_other
from app.web.shopping import client_of, shop_of
from app.web.visitors import customer

PATH = "/tai-khoan/e-mail"


async def show(request: Request, entry: Entry) -> Response:
    """The form, and what came of it."""
    await customer(request)
    asked = request.query_params if entry.problem is None else {}
    return await html(
        request,
        "email.html",
        status=entry.status,
        entry=entry,
        is_asked="asked" in asked,
        is_changed="changed" in asked,
    )


async def ask(request: Request, form: Form) -> Response:
    """Have a link sent to the new address; the old one counts until it is opened."""
    await shop_of(request).people.change_email(
        await proved(request), email=form.text("email"), client=client_of(request), language=language()
    )
    return see_other(PATH, asked="1")


async def show_link(request: Request, entry: Entry) -> Response:
    """A button: opening the link, as mail scanners do, changes nothing."""
    await customer(request)
    token = entry.value("token") or request.query_params.get("token", "")
    return await html(request, "email_confirm.html", status=entry.status, entry=entry, token=token)


async def confirm(request: Request, form: Form) -> Response:
    """Make the new address the account's."""
    await shop_of(request).people.confirm_email(await customer(request), token=form.text("token"))
    return see_other(PATH, changed="1")


routes = [
    page(PATH, form_view(show, ask), access=needed, methods=("GET", "POST")),
    page(BY_LINK, form_view(show_link, confirm), access=needed, methods=("GET", "POST")),
]
