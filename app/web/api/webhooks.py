"""What the acquirer tells of itself: signed, and still only a hint to ask it."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.clients.webhooks import SHOP_PATH, verify
from app.web.api.answers import nothing
from app.web.errors import Malformed
from app.web.shopping import shop_of


class _Payment(BaseModel):
    merchant_reference: str


class _Event(BaseModel):
    data: _Payment


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


routes = [Route(SHOP_PATH, told, methods=["POST"], name=SHOP_PATH)]
