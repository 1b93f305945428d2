"""Changing the password."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import PASSWORD_LEAST
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import client_of, shop_of
from app.web.visitors import customer, ending_others, renew_proof

PATH = "/tai-khoan/mat-khau"


async def show(request: Request, entry: Entry) -> Response:
    """The form, or that it was done."""
    await customer(request)
    return await html(
        request,
        "password.html",
        status=entry.status,
        entry=entry,
        password_least=PASSWORD_LEAST,
        is_changed="changed" in request.query_params and entry.problem is None,
    )


async def change(request: Request, form: Form) -> Response:
    """Change it; every other device is logged out, and this one stays in."""
    account_id = await customer(request)
    await shop_of(request).change_password(
        account_id,
        current=form.text("current"),
        new=form.text("new"),
        client=client_of(request),
        end_others=ending_others(request),
    )
    await renew_proof(request)
    return see_other(f"{PATH}?changed=1")


routes = [page(PATH, form_view(show, change), access=needed, methods=("GET", "POST"))]
