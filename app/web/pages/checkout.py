"""From the cart to an order, once: the form's nonce is the order's idempotency key."""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from app.shop import confirming
from app.shop.checkout import Purchase
from app.shop.errors import Invalid
from app.shop.orders import Shipping
from app.shop.pricing import PROVINCES
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import cart_of, shop_of
from app.web.visitors import buyer

_AMOUNT: Final = re.compile(r"[0-9]{1,13}")


async def show(request: Request, entry: Entry) -> Response:
    """What will be ordered, what it costs with what was typed so far, and what is to be filled in."""
    told = await shop_of(request).quote_cart.leniently(
        cart_of(request),
        customer=await buyer(request),
        province=entry.value("province"),
        voucher=entry.value("voucher"),
    )
    cart = told.cart
    return await html(
        request,
        "checkout.html",
        status=entry.status,
        cart=cart,
        quote=told.quote,
        provinces=PROVINCES,
        chosen_province=told.province,
        voucher=told.voucher,
        entry=entry,
        seen=confirming.written(cart),
        changes=confirming.changes(confirming.read(entry.value("seen")), cart),
        takes_cards=shop_of(request).place_order.takes_cards,
    )


async def submit(request: Request, form: Form) -> Response:
    """Work the sums out anew with what was typed, or order."""
    if form.text("do") != "quote":
        return await place(request, form)
    await shop_of(request).quote_cart(
        cart_of(request),
        customer=await buyer(request),
        province=_province(form),
        voucher=form.text("voucher") or None,
    )
    return await show(request, Entry(typed=form))


async def place(request: Request, form: Form) -> Response:
    """Order, then show the order, which leads on to the bank where one waits.

    A redirect to the bank would be refused by our own policy: forms lead to this site alone.
    """
    purchase = Purchase(
        account_id=await buyer(request),
        key=form.nonce(),
        shipping=Shipping(
            name=form.text("name"),
            phone=form.text("phone"),
            address=form.text("address"),
            province=_province(form),
        ),
        payment=form.text("payment"),
        voucher=form.text("voucher") or None,
        email=form.text("email") or None,
        expected_total=_amount(form.text("expected_total")),
        prices={sku: line.unit_price for sku, line in confirming.read(form.text("seen")).items()},
    )
    order = await shop_of(request).place_order(cart_of(request), purchase)
    return see_other(f"/don-hang/{order.id}", placed="1")


def _province(form: Form) -> str | None:
    """The chosen one; None for a form of an older page, which had none to choose."""
    if "province" not in form.values:
        return None
    if not form.text("province"):
        raise Invalid("shipping.province", "must be chosen", code="missing")
    return form.text("province")


def _amount(text: str) -> int:
    if not _AMOUNT.fullmatch(text):
        raise Invalid("expected_total", "must be whole đồng", code="total_invalid")
    return int(text)


routes = [page("/thanh-toan", form_view(show, submit), access=needed, methods=("GET", "POST"))]
