"""What the shop knows of a person: to be downloaded, and to be forgotten."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.web.api.personal import download
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.proof import proved
from app.web.redirects import see_other
from app.web.shopping import shop_of
from app.web.visitors import customer

PATH = "/tai-khoan/du-lieu"


async def show(request: Request, entry: Entry) -> Response:
    """Two buttons."""
    await customer(request)
    return await html(request, "personal.html", status=entry.status, entry=entry)


async def carry_out(request: Request, form: Form) -> Response:
    """Hand it out, or forget it for good."""
    account_id = await proved(request)
    if form.text("erase") != "1":
        return await download(request, account_id)
    await shop_of(request).people.erase_data(account_id)
    await session_of(request).logout()
    return see_other("/", erased="1")


routes = [page(PATH, form_view(show, carry_out), access=needed, methods=("GET", "POST"))]
