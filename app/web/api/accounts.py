"""Accounts."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import Account
from app.web.api.answers import private
from app.web.api.models.accounts import AccountOut, NewAccount
from app.web.language import language
from app.web.rates import count_registration
from app.web.shopping import shop_of

router = APIRouter(tags=["accounts"])


@router.post("/accounts", status_code=201, response_model=AccountOut)
async def register(request: Request, wanted: NewAccount) -> Response:
    """Open an account; it is not logged in by that."""
    await count_registration(request)
    account = await shop_of(request).register(
        email=wanted.email, password=wanted.password, name=wanted.name, language=language()
    )
    return private(as_json(account), 201)


def as_json(account: Account) -> dict[str, str]:
    """What an account is to itself."""
    return {"id": account.id, "email": account.email, "name": account.name}
