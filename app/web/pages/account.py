"""The account that is logged in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.web.pages.page import html, needed, page
from app.web.visitors import customer


async def account(request: Request) -> Response:
    """Who they are, and where to go from here."""
    await customer(request)
    return await html(request, "account.html")


routes = [page("/tai-khoan", account, access=needed)]
