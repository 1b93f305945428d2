"""The audit log: who changed what, from where, when."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.desk.audit import AuditQuery
from app.shop.text import clean
from app.web.forms import whole_number
from app.web.pages.desk.owner import PATH, desk_page
from app.web.pages.page import html
from app.web.shopping import desk_of

_MOST = 254
"""Characters of a filter; the longest e-mail."""


async def audit(request: Request) -> Response:
    """The newest first."""
    asked = request.query_params
    subject, action, email = (
        clean(name, asked.get(name, ""), most=_MOST, least=0) for name in ("subject", "action", "email")
    )
    number = max(1, whole_number("page", asked.get("page", "1")))
    query = AuditQuery(subject=subject, action=action, email=email, page=number)
    found = await desk_of(request).audit.page(query)

    def url(number: int) -> str:
        told = {"subject": subject, "action": action, "email": email, "page": number}
        return f"{PATH}/nhat-ky?{urlencode(told)}"

    return await html(request, "desk/audit.html", found=found, query=query, url=url)


routes = [desk_page("/nhat-ky", audit)]
