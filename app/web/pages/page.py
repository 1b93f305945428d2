"""A page: what it needs of the session, and who may keep its copy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from app.sessions import StoreUnavailable, session_of
from app.shop.errors import Unavailable
from app.web.redirects import see_other
from app.web.shopping import cart_of, shop_of
from app.web.templating import render
from app.web.visitors import UNKNOWN, Visitor, account_id_of

View = Callable[[Request], Awaitable[Response]]
Access = Callable[[Request], Awaitable[Visitor]]

_ACCESS: Final = "chopho.access"


async def needed(request: Request) -> Visitor:
    """For a page that is nothing without the session: the store's failure is the page's."""
    lines = await cart_of(request).read()
    account_id = await account_id_of(session_of(request))
    account = None if account_id is None else await shop_of(request).accounts.by_id(account_id)
    return Visitor(account=account, units=sum(lines.quantities.values()))


async def shown(request: Request) -> Visitor:
    """For a page whose header alone shows the session: while a store is away, the page comes all the same."""
    try:
        return await needed(request)
    except (StoreUnavailable, Unavailable):
        return UNKNOWN


def page(path: str, view: View, *, access: Access, methods: Sequence[str] = ("GET",)) -> Route:
    """The route of a page that declares its access to the session."""

    async def endpoint(request: Request) -> Response:
        request.scope[_ACCESS] = access
        response = await view(request)
        is_private = access is needed or session_of(request).presented
        response.headers["cache-control"] = "private, no-store" if is_private else "private, no-cache"
        response.headers["vary"] = "cookie"
        return response

    return Route(path, endpoint, methods=methods, name=path)


def led_on(path: str, *, to: str) -> Route:
    """For who comes by GET to where only a form is sent: reloads, bookmarks, the way back from a log-in."""

    async def endpoint(_: Request) -> Response:
        return see_other(to)

    return Route(path, endpoint, name=f"{path} by GET")


async def visitor_of(request: Request) -> Visitor:
    """Who looks at the page, as its declared access tells; a form that was carried out never asks."""
    access: Access = request.scope[_ACCESS]
    return await access(request)


async def html(
    request: Request, template: str, *, status: int = HTTPStatus.OK, **context: object
) -> HTMLResponse:
    """The answer that is a page, under the header that shows its visitor."""
    visitor = await visitor_of(request)
    return HTMLResponse(render(template, visitor=visitor, here=_here(request), **context), status)


def _here(request: Request) -> str:
    """The page's own address, where the switch of the language leads back to."""
    query = request.scope["query_string"].decode("latin-1")
    path = quote(request.scope["path"])
    return f"{path}?{query}" if query and request.method == "GET" else path
