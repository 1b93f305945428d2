"""Who may sit at the desk, and what they do there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.shop.desk.audit import Deed
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import View, needed, page
from app.web.roles import admitted
from app.web.shopping import client_of
from app.web.uploads import read_upload

PATH: Final = "/quan-tri"

Show = Callable[[Request, Entry], Awaitable[Response]]
Submit = Callable[[Request, Form], Awaitable[Response]]

_OWNER: Final = "chopho.owner"


def desk_page(path: str, show: View) -> Route:
    """A page that the owner alone sees."""
    return page(PATH + path, _for_owner(show), access=needed)


def desk_form(path: str, show: Show, submit: Submit) -> Route:
    """A page with a form that the owner alone sees and sends."""
    return page(PATH + path, _for_owner(form_view(show, submit)), access=needed, methods=("GET", "POST"))


def desk_upload(path: str, show: Show, submit: Submit) -> Route:
    """Likewise, with a form that brings a file."""
    view = form_view(show, submit, read=read_upload)
    return page(PATH + path, _for_owner(view), access=needed, methods=("GET", "POST"))


def deed_of(request: Request, form: Form) -> Deed:
    """Who does it, from where, with which form."""
    return Deed(account_id=request.scope[_OWNER], address=client_of(request), nonce=form.nonce())


def _for_owner(view: View) -> View:
    """The role is read anew each time, and before any body is: whoever lost it is out at once."""

    async def guarded(request: Request) -> Response:
        account = await admitted(request, "owner")
        request.scope[_OWNER] = account.id
        return await view(request)

    return guarded
