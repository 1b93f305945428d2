"""The desk's first page: what needs a hand."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.audit import AuditQuery
from app.web.pages.desk.owner import desk_page
from app.web.pages.page import html
from app.web.shopping import desk_of

_LOW_MOST = 20
_ENTRIES = 10


async def board(request: Request) -> Response:
    """How the day goes, what is nearly sold out, and what was changed last."""
    desk = desk_of(request)
    today = await desk.orders.today()
    low = await desk.stock.low(most=_LOW_MOST)
    entries = await desk.audit.page(AuditQuery(page_size=_ENTRIES))
    return await html(request, "desk/board.html", today=today, low=low, entries=entries.items)


routes = [desk_page("", board)]
