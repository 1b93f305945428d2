"""From the cart to an order, once: the form's nonce is the order's idempotency key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from app.shop import confirming
from app.shop.addresses import Address, Place
from app.shop.checkout import Purchase
from app.shop.errors import Invalid, Unavailable
from app.shop.guests import is_guest
from app.shop.orders import Shipping
from app.shop.pricing import PROVINCES
from app.web.forms import Form
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, needed, page
from app.web.redirects import see_other
from app.web.shopping import cart_of, shop_of
from app.web.visitors import buyer

_AMOUNT: Final = re.compile(r"[0-9]{1,20}")


async def show(request: Request, entry: Entry) -> Response:
    """What will be ordered, what it costs with what was typed so far, and what is to be filled in."""
    customer = await buyer(request)
    addresses = await _kept(request, customer)
    chosen = None if entry.typed.values else _chosen(request, addresses)
    if chosen is not None:
        entry = Entry(typed=_filled_in(chosen.place))
    told = await shop_of(request).quote_cart.leniently(
        cart_of(request),
        customer=customer,
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
        addresses=addresses,
        chosen=chosen,
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


async def _kept(request: Request, customer: str) -> Sequence[Address]:
    """The addresses to choose from; an order can be written without them."""
    if is_guest(customer):
        return ()
    with suppress(Unavailable):
        return await shop_of(request).people.addresses.of(customer)
    return ()


def _chosen(request: Request, addresses: Sequence[Address]) -> Address | None:
    """The one that was asked for, otherwise the usual one, which comes first."""
    asked = request.query_params.get("address", "")
    return next((each for each in addresses if each.id == asked), next(iter(addresses), None))


def _filled_in(place: Place) -> Form:
    return Form(values={name: (told,) for name, told in asdict(place).items()})


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
