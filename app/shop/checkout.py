"""From a cart to an order, once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from app.shop.cart import Cart, CartLines, PriceList
from app.shop.errors import (
    CartEmpty,
    CartOrdered,
    Invalid,
    OutOfStock,
    PaymentRefused,
    TotalChanged,
    Unavailable,
)
from app.shop.money import MOST
from app.shop.orders import Order, OrderRequest, Orders, Shipping
from app.shop.text import clean

KEY_MOST: Final = 200
"""Characters of an idempotency key; a UUID has 36."""

PAYMENTS: Final = frozenset({"cod"})
"""Accepted means of payment; ``cod`` is payment on delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder:
    """Turn the shopper's cart into an order, then take exactly what was ordered out of the cart.

    The order is committed before the cart loses it, and the cart loses it once per cart id: whatever
    happens in between leaves a cart whose id is known to be ordered, and the next try mends it.
    """

    orders: Orders
    offers: PriceList

    async def __call__(
        self, cart: Cart, *, account_id: str, key: str, shipping: Shipping, payment: str, expected_total: int
    ) -> Order:
        """The order, new or replayed by its key; raises every refusal of `Orders.place`."""
        key = checked_key(key)
        shipping = checked_shipping(shipping)
        fingerprint = _fingerprint(shipping, payment, expected_total)
        lines = await cart.read()
        order = await self.orders.replay(account_id, key, fingerprint)
        if order is None:
            try:
                order = await self._place(
                    lines, account_id, key, fingerprint, shipping, payment, expected_total
                )
            except CartOrdered as ordered:
                await self._mend(cart, account_id, ordered.order_id)
                raise
            except (TotalChanged, OutOfStock):
                # What the shopper is shown next is what they will be asked to confirm.
                self.offers.forget(lines.quantities)
                raise
        await _settle(cart, order)
        return order

    async def _mend(self, cart: Cart, account_id: str, order_id: str) -> None:
        """Take an earlier order out of a cart that still holds it, or the shopper could never order again."""
        order = await self.orders.by_id(account_id, order_id)
        if order is not None:
            await _settle(cart, order)

    async def _place(
        self,
        lines: CartLines,
        account_id: str,
        key: str,
        fingerprint: str,
        shipping: Shipping,
        payment: str,
        expected_total: int,
    ) -> Order:
        if payment not in PAYMENTS:
            raise PaymentRefused("only payment on delivery is accepted")
        if not 0 <= expected_total <= MOST:
            raise Invalid("expected_total", "is not an amount of the shop", code="total_invalid")
        if lines.cart_id is None or not lines.quantities:
            raise await self._nothing_to_order(account_id, lines)
        sold = await self.offers(lines.quantities)
        quantities = {sku: quantity for sku, quantity in lines.quantities.items() if sku in sold}
        if not quantities:
            raise CartEmpty("the shop sells nothing of this cart any more")
        return await self.orders.place(
            OrderRequest(
                account_id=account_id,
                cart_id=lines.cart_id,
                quantities=quantities,
                expected_total=expected_total,
                shipping=shipping,
                payment=payment,
                key=key,
                fingerprint=fingerprint,
            )
        )

    async def _nothing_to_order(self, account_id: str, lines: CartLines) -> CartEmpty | CartOrdered:
        """An empty cart that was just ordered leads to its order."""
        if lines.settled_id is not None:
            order = await self.orders.by_cart(account_id, lines.settled_id)
            if order is not None:
                return CartOrdered(order.id)
        return CartEmpty("nothing to order")


async def _settle(cart: Cart, order: Order) -> None:
    """Take the order out of the cart; an order that stands is told as such, also when the cart is away."""
    with suppress(Unavailable):
        await cart.settle(
            CartLines(cart_id=order.cart_id, quantities={line.sku: line.quantity for line in order.lines})
        )


def checked_shipping(shipping: Shipping) -> Shipping:
    """The address as it will be kept, or `Invalid`."""
    phone = clean("shipping.phone", shipping.phone, most=30)
    digits = "".join(char for char in phone if char not in " .-()/").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and 8 <= len(digits) <= 15):
        raise Invalid("shipping.phone", "must have 8 to 15 digits", code="phone_invalid")
    return Shipping(
        name=clean("shipping.name", shipping.name, most=100),
        phone=("+" if "+" in phone else "") + digits,
        address=clean("shipping.address", shipping.address, most=300),
    )


def checked_key(key: str) -> str:
    """The idempotency key as it will be kept, or `Invalid`."""
    key = clean("Idempotency-Key", key, most=KEY_MOST)
    if not key.isascii():
        raise Invalid("Idempotency-Key", "must be plain ASCII", code="key_invalid")
    return key


def _fingerprint(shipping: Shipping, payment: str, expected_total: int) -> str:
    told: Mapping[str, object] = {
        "shipping": [shipping.name, shipping.phone, shipping.address],
        "payment": payment,
        "expected_total": expected_total,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
