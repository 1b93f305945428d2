"""The account's password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.web.api.answers import nothing, private
from app.web.api.models.accounts import Forgotten, NewPassword, Reset
from app.web.language import language
from app.web.shopping import client_of, shop_of
from app.web.visitors import customer, ending_others, renew_proof

router = APIRouter(tags=["password"])


@router.post("/password", status_code=204)
async def change(
    request: Request, wanted: NewPassword, account_id: Annotated[str, Depends(customer)]
) -> Response:
    """Change the password; every other session of the account ends, and this one gets a new cookie."""
    await shop_of(request).change_password(
        account_id,
        current=wanted.current,
        new=wanted.new,
        client=client_of(request),
        end_others=ending_others(request),
    )
    await renew_proof(request)
    return nothing()


@router.post("/password/forgotten", status_code=202, response_model=None)
async def forgotten(request: Request, wanted: Forgotten) -> Response:
    """Have a link sent to that e-mail; the answer is the same whether an account has it."""
    await shop_of(request).people.forgot_password(
        email=wanted.email, client=client_of(request), language=language()
    )
    return private({}, 202)


@router.post("/password/reset", status_code=204)
async def reset(request: Request, wanted: Reset) -> Response:
    """Set a new password by the token of the link, once; every session of the account ends."""
    await shop_of(request).people.reset_password(token=wanted.token, new=wanted.new)
    return nothing()
