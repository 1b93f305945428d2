"""The sessions of the account that is logged in: one for each device."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from app.sessions import Device, session_of
from app.shop.errors import NotFound
from app.web.api.answers import nothing, private
from app.web.api.models.sessions import DevicesOut
from app.web.shopping import known_name, shop_of
from app.web.visitors import customer, ending_one

router = APIRouter(tags=["devices"], dependencies=[Depends(customer)])


@router.get("/sessions", response_model=DevicesOut)
async def devices(request: Request) -> Response:
    """Where this account is logged in."""
    items = [as_json(device) for device in await session_of(request).devices()]
    return private({"items": items, "total": len(items), "page": 1, "page_size": max(1, len(items))})


@router.delete("/sessions/{handle}", status_code=204)
async def end_one(request: Request, handle: str) -> Response:
    """Log one device out."""
    if not await shop_of(request).end_session(ending_one(request, known_name("session", handle))):
        raise NotFound("session")
    return nothing()


@router.delete("/sessions", status_code=204)
async def end_many(
    request: Request,
    account_id: Annotated[str, Depends(customer)],
    every: Annotated[Literal["true", "false"], Query(alias="all")] = "false",
) -> Response:
    """Log all other devices out; with `all=true` this one too."""
    session = session_of(request)
    await shop_of(request).end_sessions(
        account_id, session.end_all if every == "true" else session.end_others
    )
    return nothing()


def as_json(device: Device) -> dict[str, object]:
    """A session of one's own."""
    return {
        "handle": device.handle,
        "current": device.current,
        "created_at": datetime.fromtimestamp(device.created_at, UTC),
        "last_seen_at": datetime.fromtimestamp(device.last_seen_at, UTC),
        "ip": device.ip,
        "device": device.device,
    }
