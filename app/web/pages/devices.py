"""Where this account is logged in, and logging out there."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import known_name, shop_of
from app.web.visitors import customer, ending_one

PATH = "/tai-khoan/phien"


async def show(request: Request, entry: Entry) -> Response:
    """Every device, this one first."""
    await customer(request)
    devices = [
        (
            device,
            datetime.fromtimestamp(device.created_at, UTC),
            datetime.fromtimestamp(device.last_seen_at, UTC),
        )
        for device in await session_of(request).devices()
    ]
    devices.sort(key=lambda each: (not each[0].current, -each[0].last_seen_at))
    return await html(request, "devices.html", status=entry.status, devices=devices, entry=entry)


async def end(request: Request, form: Form) -> Response:
    """Log one device out, or all the others, or all; one that is out already stays out."""
    account_id = await customer(request)
    session, shop = session_of(request), shop_of(request)
    match form.text("which"):
        case "others":
            await shop.end_sessions(account_id, session.end_others)
        case "all":
            await shop.end_sessions(account_id, session.end_all)
            return see_other("/")
        case _:
            await shop.end_session(ending_one(request, known_name("session", form.text("handle"))))
    return see_other(PATH)


routes = [page(PATH, form_view(show, end), access=needed, methods=("GET", "POST"))]
