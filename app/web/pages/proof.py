"""Giving the password again, on the way to what asks for it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.proof import FIELD, prove
from app.web.redirects import PROOF, own_path, see_other
from app.web.visitors import customer


async def show(request: Request, entry: Entry) -> Response:
    """A place for the password."""
    await customer(request)
    wanted = own_path(entry.value("next") or request.query_params.get("next", ""))
    return await html(
        request,
        "proof.html",
        status=entry.status,
        entry=entry,
        action=PROOF,
        kept=[("nonce", entry.nonce), ("next", wanted or "")],
    )


async def give(request: Request, form: Form) -> Response:
    """Take it and lead to where they were going."""
    await prove(request, form.text(FIELD))
    return see_other(own_path(form.text("next")) or "/tai-khoan")


routes = [page(PROOF, form_view(show, give), access=needed, methods=("GET", "POST"))]
