"""The account's password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.web.api.answers import nothing
from app.web.api.models import NewPassword
from app.web.shopping import client_of, shop_of
from app.web.visitors import customer, ending_others

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
    return nothing()
