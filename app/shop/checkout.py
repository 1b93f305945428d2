"""From a cart to an order, once."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Self

from app.shop.accounts import checked_email
from app.shop.cart import Cart, CartLines, PriceList
from app.shop.catalog import Sku
from app.shop.errors import (
    CartEmpty,
    CartOrdered,
    Invalid,
    OutOfStock,
    PaymentRefused,
    TotalChanged,
    Unavailable,
)
from app.shop.guests import is_guest
from app.shop.money import payable
from app.shop.orders import COD, Order, OrderRequest, Orders, Shipping
from app.shop.phones import checked_phone
from app.shop.pricing import province_of, voucher_code
from app.shop.settlement import Settlement
from app.shop.text import clean

KEY_MOST: Final = 200
"""Characters of an idempotency key; a UUID has 36."""

_LEASES: Final = 6
"""So many of them a reservation outlives a crash while the acquirer cannot be asked."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
"""What an acquirer may call a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What a shopper sends to buy their cart: `payment` is ``cod`` or the acquirer's token of a card.

    `account_id` may be a guest's name, see `app.shop.guests`; a guest has to tell an e-mail.
    `prices` are those that they saw, where they tell them: another one is refused at any total.
    """

    account_id: str
    key: str
    shipping: Shipping
    payment: str
    expected_total: int
    voucher: str | None = None
    email: str | None = None
    prices: Mapping[Sku, int] = field(default_factory=dict)

    def checked(self) -> Self:
        """The same as it will be kept; raises `Invalid`, `PaymentRefused`."""
        if not _TOKEN.fullmatch(self.payment):
            raise PaymentRefused("this is no means of payment")
        if self.expected_total < 0:
            raise Invalid("expected_total", "must not be negative", code="total_invalid")
        return replace(
            self,
            expected_total=payable("expected_total", self.expected_total),
            key=checked_key(self.key),
            shipping=checked_shipping(self.shipping),
            voucher=voucher_code(self.voucher) if self.voucher else None,
            email=checked_email(self.email or "")[0] if is_guest(self.account_id) else None,
        )

    @property
    def fingerprint(self) -> str:
        """A digest of all that was told."""
        told: dict[str, object] = {
            "shipping": [self.shipping.name, self.shipping.phone, self.shipping.address],
            "payment": self.payment,
            "expected_total": self.expected_total,
        }
        # What was not told is left out: a key that an older version kept stays the same request.
        more = {"province": self.shipping.province, "voucher": self.voucher, "email": self.email}
        told.update((name, value) for name, value in more.items() if value is not None)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder:
    """Turn the shopper's cart into an order, then take exactly what was ordered out of the cart.

    Stock and order are committed first, then the bank is asked, then the order is confirmed; see
    `app.shop.settlement` for what becomes of an order that is broken off. The cart loses what was ordered
    after that, once per cart id: whatever happens in between leaves a cart whose id is known to be ordered,
    and the next try mends it. `settlement` is None in a shop that takes payment on delivery alone; for `lease`
    nobody else looks after an order that is being placed.
    """

    orders: Orders
    offers: PriceList
    settlement: Settlement | None = None
    lease: timedelta = timedelta(seconds=20)

    @property
    def takes_cards(self) -> bool:
        """Whether there is anything but payment on delivery."""
        return self.settlement is not None

    async def __call__(self, cart: Cart, purchase: Purchase) -> Order:
        """The order, new or as it was answered to this key before.

        Raises every refusal of `Orders.place` and of `Settlement.authorise`.
        """
        purchase = purchase.checked()
        lines = await cart.read()
        order = await self.orders.replay(purchase.account_id, purchase.key, purchase.fingerprint)
        if order is None:
            order = await self._new(cart, lines, purchase)
        await take_out(cart, order)
        return order

    async def _new(self, cart: Cart, lines: CartLines, purchase: Purchase) -> Order:
        try:
            order = await self._place(lines, purchase)
        except CartOrdered as ordered:
            await self._mend(cart, purchase.account_id, ordered.order_id)
            raise
        except (TotalChanged, OutOfStock):
            # What the shopper is shown next is what they will be asked to confirm.
            self.offers.forget(lines.quantities)
            raise
        if order.status == "placing" and self.settlement is not None:
            return await self.settlement.authorise(order, purchase.payment)
        return order

    async def _mend(self, cart: Cart, account_id: str, order_id: str) -> None:
        """Take an earlier order out of a cart that still holds it, or the shopper could never order again."""
        order = await self.orders.by_id(account_id, order_id)
        if order is not None:
            await take_out(cart, order)

    async def _place(self, lines: CartLines, purchase: Purchase) -> Order:
        if purchase.payment != COD and self.settlement is None:
            raise PaymentRefused("only payment on delivery is accepted")
        if lines.cart_id is None or not lines.quantities:
            raise await self._nothing_to_order(purchase.account_id, lines)
        sold = await self.offers(lines.quantities)
        quantities = {sku: quantity for sku, quantity in lines.quantities.items() if sku in sold}
        if not quantities:
            raise CartEmpty("the shop sells nothing of this cart any more")
        return await self.orders.place(
            OrderRequest(
                account_id=purchase.account_id,
                cart_id=lines.cart_id,
                quantities=quantities,
                expected_total=purchase.expected_total,
                shipping=purchase.shipping,
                payment="cod" if purchase.payment == COD else "card",
                voucher=purchase.voucher,
                contact_email=purchase.email,
                key=purchase.key,
                fingerprint=purchase.fingerprint,
                prices=purchase.prices,
                lease=self.lease,
                reserve_for=_LEASES * self.lease,
            )
        )

    async def _nothing_to_order(self, account_id: str, lines: CartLines) -> CartEmpty | CartOrdered:
        """An empty cart that was just ordered leads to its order."""
        if lines.settled_id is not None:
            order = await self.orders.by_cart(account_id, lines.settled_id)
            if order is not None:
                return CartOrdered(order.id)
        return CartEmpty("nothing to order")


async def take_out(cart: Cart, order: Order) -> None:
    """Take an order that stands out of the cart; it is told as such, also when the cart is away."""
    if order.cart_id is None or not order.is_standing:
        return
    with suppress(Unavailable):
        await cart.settle(
            CartLines(cart_id=order.cart_id, quantities={line.sku: line.quantity for line in order.lines})
        )


def checked_shipping(shipping: Shipping) -> Shipping:
    """The address as it will be kept, or `Invalid`."""
    return Shipping(
        name=clean("shipping.name", shipping.name, most=100),
        phone=checked_phone("shipping.phone", shipping.phone),
        address=clean("shipping.address", shipping.address, most=300),
        province=None if shipping.province is None else province_of(shipping.province).name,
    )


def checked_key(key: str) -> str:
    """The idempotency key as it will be kept, or `Invalid`."""
    key = clean("Idempotency-Key", key, most=KEY_MOST)
    if not key.isascii():
        raise Invalid("Idempotency-Key", "must be plain ASCII", code="key_invalid")
    return key
