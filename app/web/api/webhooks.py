"""What the acquirer tells of itself: signed, and still only a hint to ask it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from app.clients.webhooks import verify
from app.web.api.answers import nothing
from app.web.errors import Malformed
from app.web.shopping import shop_of

_PLACE: Final = "/webhooks/payments"
PATH: Final = f"/api/v1{_PLACE}"

router = APIRouter(tags=["webhooks"])


class _Payment(BaseModel):
    merchant_reference: str


class _Event(BaseModel):
    data: _Payment


@router.post(_PLACE, status_code=204, include_in_schema=False)
async def told(request: Request) -> Response:
    """Look at the order that the event names; the acquirer calls again until it hears 204."""
    body = await request.body()
    verify(request.headers, body, secrets=request.app.state.webhook_secrets)
    try:
        event = _Event.model_validate_json(body)
    except ValidationError as unreadable:
        raise Malformed("the event cannot be read") from unreadable
    settlement = shop_of(request).settlement
    if settlement is not None:
        await settlement.look(event.data.merchant_reference)
    return nothing()
