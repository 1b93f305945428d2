"""Orders."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import NotFound
from app.shop.money import CURRENCY
from app.shop.orders import Order, Shipping
from app.web.api.answers import private
from app.web.api.models import NewOrder, OrderOut, OrdersOut
from app.web.api.paging import PageNumber, PageSize, listed
from app.web.shopping import cart_of, known_name, shop_of
from app.web.visitors import customer

router = APIRouter(tags=["orders"])

Customer = Annotated[str, Depends(customer)]
"""The account that is logged in, asked before the body is judged."""


@router.post("/orders", status_code=201, response_model=OrderOut)
async def place(
    request: Request, account_id: Customer, wanted: NewOrder, idempotency_key: Annotated[str, Header()] = ""
) -> Response:
    """Order what is in the cart; the same key again gives the same order."""
    order = await shop_of(request).place_order(
        cart_of(request),
        account_id=account_id,
        key=idempotency_key,
        shipping=Shipping(
            name=wanted.shipping.name, phone=wanted.shipping.phone, address=wanted.shipping.address
        ),
        payment=wanted.payment.token,
        expected_total=wanted.expected_total,
    )
    return private(_as_json(order), 201, {"location": f"/api/v1/orders/{order.id}"})


@router.get("/orders", response_model=OrdersOut)
async def orders(
    request: Request, account_id: Customer, page: PageNumber = 1, page_size: PageSize = 24
) -> Response:
    """Own orders, newest first."""
    found = await shop_of(request).orders.page(account_id, page=page, page_size=page_size)
    return private(listed(found, _as_json))


@router.get("/orders/{order_id}", response_model=OrderOut)
async def order(request: Request, account_id: Customer, order_id: str) -> Response:
    """One own order."""
    found = await shop_of(request).orders.by_id(account_id, known_name("order", order_id))
    if found is None:
        raise NotFound("order")
    return private(_as_json(found))


def _as_json(order: Order) -> dict[str, object]:
    return {
        "id": order.id,
        "number": order.number,
        "status": order.status,
        "lines": [
            {
                "sku": line.sku,
                "name": line.name,
                "quantity": line.quantity,
                "unit_price": line.unit_price,
                "total": line.total,
            }
            for line in order.lines
        ],
        "total": order.total,
        "currency": CURRENCY,
        "shipping": {
            "name": order.shipping.name,
            "phone": order.shipping.phone,
            "address": order.shipping.address,
        },
        "payment": order.payment,
        "placed_at": order.placed_at,
    }
