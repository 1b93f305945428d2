"""Who may do what; asked of the database each time, so that a role that was taken away is gone at once."""

from __future__ import annotations

from starlette.requests import Request

from app.shop.accounts import Account, Role
from app.shop.errors import Forbidden, LoginNeeded
from app.web.shopping import shop_of
from app.web.visitors import customer


async def admitted(request: Request, *roles: Role) -> Account:
    """The account that is logged in, if it has one of the roles; raises `LoginNeeded`, `Forbidden`."""
    account = await shop_of(request).accounts.by_id(await customer(request))
    if account is None or account.locked_at is not None:
        raise LoginNeeded("this needs an account that may come in")
    if account.role not in roles:
        raise Forbidden(f"this is for {' and '.join(roles)} alone")
    return account
