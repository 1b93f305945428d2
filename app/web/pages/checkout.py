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
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import cart_of, shop_of
from app.web.visitors import customer

_AMOUNT: Final = re.compile(r"[0-9]{1,13}")


async def show(request: Request, entry: Entry) -> Response:
    """What will be ordered, at which total, and the address to be filled in."""
    await customer(request)
    cart = await shop_of(request).show_cart(cart_of(request))
    return await html(
        request,
        "checkout.html",
        status=entry.status,
        cart=cart,
        entry=entry,
        seen=confirming.written(cart),
        changes=confirming.changes(confirming.read(entry.value("seen")), cart),
        takes_cards=shop_of(request).place_order.takes_cards,
    )


async def place(request: Request, form: Form) -> Response:
    """Order, then show the order, which leads on to the bank where one waits.

    A redirect to the bank would be refused by our own policy: forms lead to this site alone.
    """
    purchase = Purchase(
        account_id=await customer(request),
        key=form.nonce(),
        shipping=Shipping(name=form.text("name"), phone=form.text("phone"), address=form.text("address")),
        payment=form.text("payment"),
        expected_total=_amount(form.text("expected_total")),
        prices={sku: line.unit_price for sku, line in confirming.read(form.text("seen")).items()},
    )
    order = await shop_of(request).place_order(cart_of(request), purchase)
    return see_other(f"/don-hang/{order.id}", placed="1")


def _amount(text: str) -> int:
    if not _AMOUNT.fullmatch(text):
        raise Invalid("expected_total", "must be whole đồng", code="total_invalid")
    return int(text)


routes = [page("/thanh-toan", form_view(show, place), access=needed, methods=("GET", "POST"))]
