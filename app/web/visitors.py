"""Who looks at a page, as far as its header tells."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from app.sessions import Changes, Refused, Session, SessionEnded, StoreUnavailable, session_of
from app.shop.accounts import Account
from app.shop.errors import LoginNeeded, Unavailable
from app.shop.guests import new_guest
from app.shop.revocations import End, EndOne, account_of, user_of
from app.web.shopping import cart_of, client_of, shop_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """`is_known` is False while the store that would tell is away; then nobody is called anonymous."""

    account: Account | None = None
    units: int = 0
    is_known: bool = True


_GUEST: Final = "guest"
"""The session's field that names a shopper without an account."""

PROVED_AT: Final = "proved"
"""The session's field: when the password was last given, in seconds since the epoch."""

UNKNOWN: Final = Visitor(is_known=False)


async def account_id_of(session: Session) -> str | None:
    """The account that is logged in, or None."""
    user = await session.user()
    return None if user is None else account_of(user)


async def customer(request: Request) -> str:
    """The account that is logged in; raises `LoginNeeded`."""
    account_id = await account_id_of(session_of(request))
    if account_id is None:
        raise LoginNeeded("this needs an account, and nobody is logged in")
    return account_id


async def customer_account(request: Request) -> Account:
    """The same, with its name and role; raises `LoginNeeded`."""
    account = await shop_of(request).accounts.by_id(await customer(request))
    if account is None:
        raise LoginNeeded("the account that was logged in exists no more")
    return account


async def owner(request: Request) -> str:
    """Whose orders this session may see: its account's, or its guest's; raises `LoginNeeded`."""
    guest = await session_of(request).get(_GUEST)
    account_id = await account_id_of(session_of(request))
    if account_id is None and isinstance(guest, str):
        return guest
    return account_id or await customer(request)


async def buyer(request: Request) -> str:
    """Who orders: the account, or a guest whose name the session keeps; raises `LoginNeeded` for empty hands.

    Nothing lies in the cart of somebody who is to be sent to their account, where theirs may be.
    """
    account_id = await account_id_of(session_of(request))
    if account_id is not None:
        return account_id
    cart = await cart_of(request).read()
    if not cart.quantities and cart.settled_id is None:
        raise LoginNeeded("nothing is in the cart, and nobody is logged in")
    session = session_of(request)
    if await session.get(_GUEST) is None:
        with suppress(Refused):  # of several requests at once, one names the guest
            await session.change(
                Changes(expect={_GUEST: None}, put={_GUEST: json.dumps(new_guest()).encode()})
            )
        await session.reload()
    return await owner(request)


async def admit(request: Request, *, email: str, password: str) -> Account:
    """Log them in, and what they gathered before with them; raises `BadCredentials`, `TooManyAttempts`."""
    came = await shop_of(request).log_in(email=email, password=password, client=client_of(request))
    await let_in(request, came.account.id, epoch=came.epoch)
    with suppress(Unavailable):  # who reads the cart next brings in what was gathered
        await cart_of(request).read()
    return came.account


async def let_in(request: Request, account_id: str, *, epoch: int | None = None) -> None:
    """Log the account in; whoever comes in has just given the password."""
    await note_proof(request)
    await session_of(request).login(user_of(account_id), epoch=epoch)


async def note_proof(request: Request) -> None:
    """Keep with the session that the password was given now."""
    await session_of(request).set(PROVED_AT, int(time.time()))


async def renew_proof(request: Request) -> None:
    """The same for who is logged in; a session that was ended meanwhile keeps nothing."""
    if await session_of(request).user() is not None:
        await note_proof(request)


def ending_one(request: Request, handle: str) -> EndOne:
    """What ends that session of whoever asks."""

    async def end() -> str | None:
        return handle if await session_of(request).end_one(handle) else None

    return end


def ending_others(request: Request) -> End:
    """What ends every other session of whoever asks; 0 and none, if theirs was ended meanwhile."""

    async def end() -> int:
        try:
            return await session_of(request).end_others()
        except SessionEnded:
            return 0
        except StoreUnavailable as away:
            raise Unavailable("the session store") from away

    return end
