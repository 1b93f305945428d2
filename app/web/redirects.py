"""Where a browser is sent next: always a path of this shop."""

from __future__ import annotations

import unicodedata
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse

from app.sessions import SessionEnded
from app.shop.desk.errors import AlreadyDone
from app.shop.errors import CartOrdered, KeyInProgress, LoginNeeded, ProofNeeded

_DESK: Final = {
    "product": "/quan-tri/san-pham/",
    "stock": "/quan-tri/kho/",
    "import": "/quan-tri/nhap/",
    "order": "/quan-tri/don-hang/",
    "account": "/quan-tri/tai-khoan/",
    "voucher": "/quan-tri/ma-giam-gia#ma-",
    "review": "/quan-tri/danh-gia#",
}
"""Where the desk shows a subject of its audit log, by its kind."""

PROOF: Final = "/tai-khoan/xac-nhan"
"""Where the password is given again."""

_NEXT_MOST: Final = 1000
"""Characters; a search with every filter is far shorter."""


def see_other(path: str, **query: str) -> RedirectResponse:
    """303 to a path of ours, percent-encoded whatever is in it; never kept by any cache."""
    url = f"{path}?{urlencode(query)}" if query else path
    return RedirectResponse(url, 303, headers={"cache-control": "private, no-store", "vary": "cookie"})


def own_path(text: str) -> str | None:
    """The text if it is a path of this shop that browsers cannot read as another site's, or None.

    Browsers take a backslash for a slash and leave tabs and line breaks out, so neither may occur.
    """
    if not text.startswith("/") or text.startswith("//") or "\\" in text or len(text) > _NEXT_MOST:
        return None
    if any(unicodedata.category(char).startswith("C") for char in text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else text


def detour(request: Request, error: Exception) -> RedirectResponse | None:
    """Where a page leads instead of showing the error, or None."""
    match error:
        case LoginNeeded():
            return see_other("/dang-nhap", next=_asked_for(request))
        case ProofNeeded():
            return see_other(PROOF, next=_asked_for(request))
        case SessionEnded():
            return see_other("/dang-nhap", next=_asked_for(request), ended="1")
        case CartOrdered(order_id=order_id) | KeyInProgress(order_id=str(order_id)):
            return see_other(f"/don-hang/{quote(order_id, safe='')}")
        case AlreadyDone(action=action, subject=subject):
            return see_other(desk_path(action, subject))
        case _:
            return None


def desk_path(action: str, subject: str) -> str:
    """The page of the desk that shows what was done."""
    kind, _, name = subject.partition(" ")
    if action == "product.delete" or kind not in _DESK:
        return "/quan-tri"
    return _DESK[kind] + quote(name, safe="")


def _asked_for(request: Request) -> str:
    """The page that was asked for; a form's page has the path that the form is sent to."""
    query = request.scope["query_string"].decode("latin-1")
    path = quote(request.scope["path"])
    return f"{path}?{query}" if query and request.method == "GET" else path
