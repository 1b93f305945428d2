"""Logging in and out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, led_on, needed, page, visitor_of
from app.web.redirects import own_path, see_other
from app.web.shopping import shop_of
from app.web.visitors import admit

HOME = "/"


async def show(request: Request, entry: Entry) -> Response:
    """The form; who is logged in already is led on."""
    wanted = own_path(entry.value("next") or request.query_params.get("next", ""))
    if entry.problem is None and (await visitor_of(request)).account is not None:
        return see_other(wanted or "/tai-khoan")
    return await html(
        request,
        "login.html",
        status=entry.status,
        entry=entry,
        wanted=wanted or "",
        has_ended="ended" in request.query_params,
        is_reset="reset" in request.query_params,
    )


async def log_in(request: Request, form: Form) -> Response:
    """Let them in and lead them where they wanted to go."""
    await admit(request, email=form.text("email"), password=form.text("password"))
    return see_other(own_path(form.text("next")) or HOME)


async def log_out(request: Request) -> Response:
    """Let them out."""
    await shop_of(request).end_session(session_of(request).logout)
    return see_other(HOME)


routes = [
    page("/dang-nhap", form_view(show, log_in), access=needed, methods=("GET", "POST")),
    page("/dang-xuat", log_out, access=needed, methods=("POST",)),
    led_on("/dang-xuat", to="/tai-khoan"),
]
