"""The switch of the language."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import Invalid
from app.web.forms import read_form
from app.web.language import COOKIE, NAMES
from app.web.pages.page import led_on, needed, page
from app.web.redirects import own_path, see_other

_KEPT: Final = timedelta(days=365)


async def choose(request: Request) -> Response:
    """Remember the language in this browser, and show the same page in it."""
    form = await read_form(request)
    chosen = form.text("language")
    if chosen not in NAMES:
        raise Invalid("language", f"must be one of {', '.join(NAMES)}", code="invalid")
    answer = see_other(own_path(form.text("next")) or "/")
    answer.set_cookie(
        COOKIE,
        chosen,
        max_age=int(_KEPT.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return answer


routes = [page("/ngon-ngu", choose, access=needed, methods=("POST",)), led_on("/ngon-ngu", to="/")]
