"""What the shop knows of the account that is logged in: handed out, and forgotten."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

import orjson
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.web.api.account import address_as_json, profile_as_json
from app.web.api.answers import PRIVATE, nothing
from app.web.api.devices import as_json as device_as_json
from app.web.api.orders import as_json as order_as_json
from app.web.proof import proved
from app.web.shopping import shop_of

router = APIRouter(tags=["personal data"])

_FILE: Final = "chopho-du-lieu.json"
_REVIEWS: Final = (
    "Reviews are public under each product, under the name they were written with, and removed there."
)


@router.get("/account/export", response_model=None)
async def export(request: Request, account_id: Annotated[str, Depends(proved)]) -> Response:
    """All that the shop keeps about this account; asks for the password, if it was given long ago."""
    return await download(request, account_id)


@router.delete("/account", status_code=204)
async def erase(request: Request, account_id: Annotated[str, Depends(proved)]) -> Response:
    """Forget this account for good; asks for the password, if it was given long ago."""
    await shop_of(request).people.erase_data(account_id)
    await session_of(request).logout()
    return nothing()


async def download(request: Request, account_id: str) -> Response:
    """The data as a file."""
    data = await shop_of(request).people.export_data(account_id)
    told = {
        "exported_at": datetime.now(UTC),
        "account": profile_as_json(data.account),
        "addresses": [address_as_json(address) for address in data.addresses],
        "orders": [order_as_json(order) for order in data.orders],
        "sessions": [device_as_json(device) for device in await session_of(request).devices()],
        "reviews": _REVIEWS,
    }
    headers = {**PRIVATE, "content-disposition": f'attachment; filename="{_FILE}"'}
    return Response(orjson.dumps(told, option=orjson.OPT_INDENT_2), 200, headers, "application/json")
