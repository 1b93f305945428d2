"""Who looks at a page, as far as its header tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from app.sessions import Session, session_of
from app.shop.accounts import Account
from app.shop.errors import LoginNeeded

_PREFIX: Final = "user:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """`is_known` is False while the store that would tell is away; then nobody is called anonymous."""

    account: Account | None = None
    units: int = 0
    is_known: bool = True


UNKNOWN: Final = Visitor(is_known=False)


def user_of(account_id: str) -> str:
    """The reference that a session keeps of an account."""
    return _PREFIX + account_id


async def account_id_of(session: Session) -> str | None:
    """The account that is logged in, or None."""
    user = await session.user()
    return None if user is None else user.removeprefix(_PREFIX)


async def customer(request: Request) -> str:
    """The account that is logged in; raises `LoginNeeded`."""
    account_id = await account_id_of(session_of(request))
    if account_id is None:
        raise LoginNeeded("this needs an account, and nobody is logged in")
    return account_id
