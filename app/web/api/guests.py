"""Orders of shoppers without an account."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from app.shop.checkout import Purchase
from app.shop.orders import Order
from app.web.api import orders
from app.web.api.answers import private
from app.web.api.models.orders import GuestOrderOut, NewGuestOrder
from app.web.shopping import cart_of, shop_of
from app.web.visitors import buyer

router = APIRouter(tags=["orders"])


@router.post("/guest-orders", status_code=201, response_model=GuestOrderOut)
async def place(
    request: Request, wanted: NewGuestOrder, idempotency_key: Annotated[str, Header()] = ""
) -> Response:
    """Order what is in the cart without an account; the same key again gives the same order."""
    purchase = Purchase(
        account_id=await buyer(request),
        key=idempotency_key,
        shipping=orders.shipping_of(wanted.shipping),
        payment=wanted.payment.token,
        expected_total=wanted.expected_total,
        voucher=wanted.voucher,
        email=wanted.email,
    )
    order = await shop_of(request).place_order(cart_of(request), purchase)
    return private(_as_json(request, order), 201)


@router.get("/guest-orders/{token}", response_model=GuestOrderOut)
async def order(request: Request, token: str) -> Response:
    """One order, by the last part of its `follow`."""
    return private(_as_json(request, await shop_of(request).follow_order(token)))


@router.post("/guest-orders/{token}/cancel", response_model=GuestOrderOut)
async def cancel(request: Request, token: str) -> Response:
    """Cancel it if it is not packed yet; also done when it was cancelled before."""
    found = await shop_of(request).follow_order(token)
    cancelled = await shop_of(request).cancel_order(account_id=str(found.owner), order_id=found.id)
    return private(_as_json(request, cancelled))


def _as_json(request: Request, order: Order) -> dict[str, object]:
    return {**orders.as_json(order), "follow": shop_of(request).guest_links.path(order.id)}
