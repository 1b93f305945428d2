"""Accounts: found, locked and let in again, and logged out wherever they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import Account
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
        request, "desk/account.html", status=entry.status, account=account, sessions=found, entry=entry
    )


async def change(request: Request, form: Form) -> Response:
    """Lock, let in, or log out, with the password given lately; the entry in the log comes first.

    Each may be done again to no harm.
    """
    account, deed, desk, shop = (
        await _account(request),
        deed_of(request, form),
        desk_of(request),
        shop_of(request),
    )
    subject, do = f"account {account.id}", form.text("do")
    if do not in {"lock", "unlock", "end-one", "end-all"}:
        raise Invalid("do", "is not one of ours", code="invalid")
    await proved(request)
    await desk.audit.note(deed, action=f"account.{do}", subject=subject, after={"email": account.email})
    match do:
        case "lock":
            await shop.people.standing.lock(account.id, by=deed.account_id)
        case "unlock":
            await shop.people.standing.unlock(account.id)
        case "end-one":
            handle = known_name("session", form.text("handle"))
            await shop.end_session(lambda: desk.sessions.end_one(account.id, handle))
        case _:
            await shop.end_sessions(account.id, lambda: desk.sessions.end_all(account.id))
    return see_other(f"{PATH}/tai-khoan/{quote(account.id, safe='')}", done="1")


async def _account(request: Request) -> Account:
    account_id = known_name("account", request.path_params["account_id"])
    found = await shop_of(request).accounts.by_id(account_id)
    if found is None:
        raise NotFound("account")
    return found


routes = [desk_page("/tai-khoan", accounts), desk_form("/tai-khoan/{account_id}", show, change)]
