"""Orders."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from app.shop.checkout import Purchase
from app.shop.errors import NotFound
from app.shop.money import CURRENCY
from app.shop.orders import Order, OrderQuery, OrderStatus, Shipping
from app.web.api.answers import private
from app.web.api.models.orders import Address, NewOrder, OrderOut, OrdersOut
from app.web.api.paging import PageNumber, PageSize, listed
from app.web.forms import day
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
    purchase = Purchase(
        account_id=account_id,
        key=idempotency_key,
        shipping=shipping_of(wanted.shipping),
        payment=wanted.payment.token,
        expected_total=wanted.expected_total,
        voucher=wanted.voucher,
    )
    order = await shop_of(request).place_order(cart_of(request), purchase)
    return private(as_json(order), 201, {"location": f"/api/v1/orders/{order.id}"})


@router.get("/orders", response_model=OrdersOut)
async def orders(
    request: Request,
    account_id: Customer,
    page: PageNumber = 1,
    page_size: PageSize = 24,
    status: Annotated[OrderStatus | None, Query()] = None,
    since: str = "",
    until: str = "",
) -> Response:
    """Own orders, newest first; days are Vietnam's, both included."""
    query = OrderQuery(
        page=page,
        page_size=page_size,
        status=status,
        since=day("since", since),
        until=day("until", until),
    )
    return private(listed(await shop_of(request).orders.page(account_id, query), as_json))


@router.get("/orders/{order_id}", response_model=OrderOut)
async def order(request: Request, account_id: Customer, order_id: str) -> Response:
    """One own order."""
    found = await shop_of(request).orders.by_id(account_id, known_name("order", order_id))
    if found is None:
        raise NotFound("order")
    return private(as_json(found))


@router.post("/orders/{order_id}/cancel", response_model=OrderOut)
async def cancel(request: Request, account_id: Customer, order_id: str) -> Response:
    """Cancel an own order that is not packed yet; also done when it was cancelled before."""
    known = known_name("order", order_id)
    return private(as_json(await shop_of(request).cancel_order(account_id=account_id, order_id=known)))


def shipping_of(address: Address) -> Shipping:
    """Where a request wants it sent."""
    return Shipping(
        name=address.name, phone=address.phone, address=address.address, province=address.province
    )


def as_json(order: Order) -> dict[str, object]:
    """An order as the API tells it."""
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
        "subtotal": order.totals.subtotal,
        "shipping_fee": order.totals.shipping_fee,
        "discount": order.totals.discount,
        "vat_included": order.totals.vat_included,
        "total": order.total,
        "currency": CURRENCY,
        "shipping": {
            "name": order.shipping.name,
            "phone": order.shipping.phone,
            "address": order.shipping.address,
            "province": order.shipping.province,
        },
        "payment": order.payment,
        "redirect_url": order.redirect_url if order.status == "awaiting_payment" else None,
        "placed_at": order.placed_at,
    }
