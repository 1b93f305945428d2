"""Sensitive actions ask for the password again when it was last given long ago."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Final

from starlette.requests import Request

from app.sessions import session_of
from app.shop.errors import ProofNeeded
from app.web.shopping import client_of, shop_of
from app.web.visitors import PROVED_AT, customer, note_proof

FIELD: Final = "proof"
"""What a form calls the password that is asked for beside it."""

_JUST_NOW: Final = "chopho.proved"


async def prove(request: Request, password: str, *, field: str = FIELD) -> None:
    """Take the password of whoever is logged in; raises `Invalid` naming the field, `TooManyAttempts`."""
    await shop_of(request).people.check_password(
        await customer(request), password=password, client=client_of(request), field=field
    )
    await note_proof(request)
    request.scope[_JUST_NOW] = True


async def proved(request: Request) -> str:
    """The account that is logged in and gave its password not long ago.

    Raises `LoginNeeded`, `ProofNeeded`; a form that raises it is asked for again with a place for the password,
    and nothing that was typed is lost.
    """
    account_id = await customer(request)
    if _JUST_NOW not in request.scope:
        lasts: timedelta = request.app.state.proof_lasts
        at = await session_of(request).get(PROVED_AT, 0)
        if not isinstance(at, int) or time.time() - at > lasts.total_seconds():
            raise ProofNeeded("this asks for the password again")
    return account_id
