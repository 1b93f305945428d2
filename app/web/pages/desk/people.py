"""Accounts: found, locked and let in again, and logged out wherever they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import ROLES, Account, Role
from app.shop.desk.audit import Deed
from app.shop.errors import Invalid, NotFound
from app.shop.text import clean
from app.web.forms import Form, whole_number
from app.web.pages.desk.owner import PATH, deed_of, desk_form, desk_page
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.proof import proved
from app.web.redirects import see_other
from app.web.shopping import desk_of, known_name, shop_of

_PAGE_SIZE: Final = 50
_TEXT_MOST: Final = 254


async def accounts(request: Request) -> Response:
    """Whose e-mail or name has the text, the newest first."""
    text = clean("q", request.query_params.get("q", ""), most=_TEXT_MOST, least=0)
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    found = await desk_of(request).accounts.page(text, page=number, page_size=_PAGE_SIZE)

    def url(number: int) -> str:
        return f"{PATH}/tai-khoan?{urlencode({'q': text, 'page': number})}"

    return await html(request, "desk/accounts.html", found=found, text=text, url=url)


async def show(request: Request, entry: Entry) -> Response:
    """The account and where it is logged in."""
    account = await _account(request)
    found = [
        (each, datetime.fromtimestamp(each.created_at, UTC), datetime.fromtimestamp(each.last_seen_at, UTC))
        for each in await desk_of(request).sessions.of(account.id)
    ]
    return await html(
        request,
        "desk/account.html",
        status=entry.status,
        account=account,
        roles=ROLES,
        sessions=found,
        entry=entry,
    )


async def change(request: Request, form: Form) -> Response:
    """Lock, let in, give another role, or log out, with the password given lately."""
    account, deed = await _account(request), deed_of(request, form)
    do = form.text("do")
    if do not in {"lock", "unlock", "role", "end-one", "end-all"}:
        raise Invalid("do", "is not one of ours", code="invalid")
    await proved(request)
    standing = shop_of(request).people.standing
    match do:
        case "lock":
            await standing.lock(account.id, by=deed)
        case "unlock":
            await standing.unlock(account.id, by=deed)
        case "role":
            await standing.give(account.id, _role(form, "role"), by=deed, seen=_role(form, "seen"))
        case "end-one":
            await _end_one(request, account, deed, known_name("session", form.text("handle")))
        case _:
            await _end_all(request, account, deed)
    return see_other(f"{PATH}/tai-khoan/{quote(account.id, safe='')}", done="1")


async def _end_one(request: Request, account: Account, deed: Deed, handle: str) -> None:
    """The entry in the log comes first; what may be done again to no harm comes after it."""
    await _note(request, account, deed, "account.end-one")
    await shop_of(request).end_session(lambda: desk_of(request).sessions.end_one(account.id, handle))


async def _end_all(request: Request, account: Account, deed: Deed) -> None:
    """Likewise."""
    await _note(request, account, deed, "account.end-all")
    await shop_of(request).end_sessions(account.id, lambda: desk_of(request).sessions.end_all(account.id))


async def _note(request: Request, account: Account, deed: Deed, action: str) -> None:
    subject, after = f"account {account.id}", {"email": account.email}
    await desk_of(request).audit.note(deed, action=action, subject=subject, after=after)


def _role(form: Form, name: str) -> Role:
    found = next((role for role in ROLES if role == form.text(name)), None)
    if found is None:
        raise Invalid(name, f"must be one of {', '.join(ROLES)}", code="role_invalid")
    return found


async def _account(request: Request) -> Account:
    account_id = known_name("account", request.path_params["account_id"])
    found = await shop_of(request).accounts.by_id(account_id)
    if found is None:
        raise NotFound("account")
    return found


routes = [desk_page("/tai-khoan", accounts), desk_form("/tai-khoan/{account_id}", show, change)]
