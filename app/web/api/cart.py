"""The cart."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from app.shop.cart import CartView
from app.shop.checkout import checked_key
from app.shop.money import CURRENCY
from app.web.api.answers import HotRoute, private
from app.web.api.models import CartOut, NewLine, Quantity
from app.web.shopping import cart_of, known_name, shop_of

router = APIRouter(tags=["cart"])


async def show(request: Request) -> Response:
    """The cart with today's names and prices."""
    view = await shop_of(request).show_cart(cart_of(request))
    return private(_as_json(view))


@router.post("/cart/items", response_model=CartOut)
async def add(
    request: Request, line: NewLine, idempotency_key: Annotated[str | None, Header()] = None
) -> Response:
    """Add units; past the limit of the line or the stock nothing changes. The same key again adds nothing."""
    once = None if idempotency_key is None else checked_key(idempotency_key)
    sku = known_name("product", line.sku)
    await shop_of(request).add_to_cart(cart_of(request), sku, line.quantity, once=once)
    return await show(request)


@router.put("/cart/items/{sku}", response_model=CartOut)
async def put(request: Request, sku: str, wanted: Quantity) -> Response:
    """Set the units of a line; 0 removes it."""
    await shop_of(request).put_in_cart(cart_of(request), known_name("product", sku), wanted.quantity)
    return await show(request)


@router.delete("/cart/items/{sku}", response_model=CartOut)
async def remove(request: Request, sku: str) -> Response:
    """Remove a line; also done when there is none."""
    await shop_of(request).put_in_cart(cart_of(request), known_name("product", sku), 0)
    return await show(request)


def _as_json(view: CartView) -> dict[str, object]:
    return {
        "lines": [
            {
                "sku": line.sku,
                "slug": line.slug,
                "name": line.name,
                "quantity": line.quantity,
                "unit_price": line.unit_price,
                "total": line.total,
                "available": line.available,
            }
            for line in view.lines
        ],
        "count": view.count,
        "total": view.total,
        "currency": CURRENCY,
        "gone": list(view.gone),
        "left_out": [
            {"sku": line.sku, "name": line.name, "quantity": line.quantity} for line in view.left_out
        ],
    }


hot_routes = [HotRoute("/api/v1/cart", show, response_model=CartOut, tags=["cart"])]
