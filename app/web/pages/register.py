"""Opening an account."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import PASSWORD_LEAST
from app.web.forms import Form
from app.web.language import language
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.rates import count_registration
from app.web.redirects import own_path, see_other
from app.web.shopping import shop_of
from app.web.visitors import let_in


async def show(request: Request, entry: Entry) -> Response:
    """The form."""
    wanted = own_path(entry.value("next") or request.query_params.get("next", ""))
    return await html(
        request,
        "register.html",
        status=entry.status,
        entry=entry,
        wanted=wanted or "",
        password_least=PASSWORD_LEAST,
    )


async def register(request: Request, form: Form) -> Response:
    """Open the account and let its owner in; the cart that was filled before stays."""
    await count_registration(request)
    account = await shop_of(request).register(
        email=form.text("email"),
        password=form.text("password"),
        name=form.text("name"),
        language=language(),
    )
    await let_in(request, account.id)
    return see_other(own_path(form.text("next")) or "/")


routes = [page("/dang-ky", form_view(show, register), access=needed, methods=("GET", "POST"))]
