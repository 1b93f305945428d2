"""The cart."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.shop.cart import CartView
from app.shop.checkout import checked_key
from app.shop.money import CURRENCY
from app.shop.quoting import CartQuote
from app.web.api.answers import HotRoute, private
from app.web.api.models.cart import CartOut, NewLine, Quantity, QuoteOut, QuoteWanted
from app.web.shopping import cart_of, known_name, shop_of
from app.web.visitors import account_id_of

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


@router.post("/cart/quote", response_model=QuoteOut)
async def quote(request: Request, wanted: QuoteWanted) -> Response:
    """What the cart would cost; nothing is ordered or reserved. `total` is what an order expects."""
    told = await shop_of(request).quote_cart(
        cart_of(request),
        customer=await account_id_of(session_of(request)) or "",
        province=wanted.province,
        voucher=wanted.voucher,
    )
    return private(_quote_as_json(told))


def _quote_as_json(told: CartQuote) -> dict[str, object]:
    quote = told.quote
    return {
        "lines": [
            {"sku": line.sku, "total": line.total, "discount": line.discount, "vat": line.vat}
            for line in quote.lines
        ],
        "subtotal": quote.subtotal,
        "discount": quote.discount,
        "shipping_fee": quote.shipping_fee,
        "shipping_vat": quote.shipping_vat,
        "vat_included": quote.vat_included,
        "total": quote.total,
        "currency": CURRENCY,
        "province": None if told.province is None else told.province.name,
        "voucher": None if told.voucher is None else told.voucher.code,
    }


def _as_json(view: CartView) -> dict[str, object]:
    return {
        "lines": [
            {
                "sku": (offer := line.offer).sku,
                "slug": offer.slug,
                "name": offer.name,
                "quantity": line.quantity,
                "unit_price": offer.price,
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
