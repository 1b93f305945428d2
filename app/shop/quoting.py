"""What a cart would cost, before it is ordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from app.shop.cart import Cart, CartView, ShowCart
from app.shop.errors import Invalid
from app.shop.money import payable
from app.shop.pricing import (
    Charges,
    Goods,
    KnownVoucher,
    Province,
    Quote,
    Voucher,
    checked_voucher,
    province_of,
    quoted,
    voucher_code,
)


class Vouchers(Protocol):
    """The store of vouchers. Raises `Unavailable`."""

    async def find(self, code: str, *, customer: str) -> KnownVoucher | None:
        """The voucher of that code, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CartQuote:
    """A cart and what it costs, sent to that province, with that voucher."""

    cart: CartView
    quote: Quote
    province: Province | None
    voucher: Voucher | None


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCart:
    """Today's sums of a cart. The order is quoted again at the prices of its moment."""

    show_cart: ShowCart
    charges: Charges
    vouchers: Vouchers
    clock: Callable[[], datetime] = _now

    async def __call__(
        self, cart: Cart, *, customer: str = "", province: str | None = None, voucher: str | None = None
    ) -> CartQuote:
        """The quote; raises `Invalid` for a province or a voucher that is not good, and a total that nobody may pay."""
        view = await self.show_cart(cart)
        found = None if province is None else province_of(province)
        good = None if voucher is None else await self._good(voucher, view.total, customer)
        told = self._quoted(view, found, good)
        payable("total", told.quote.total)
        return told

    async def leniently(self, cart: Cart, *, customer: str, province: str, voucher: str) -> CartQuote:
        """The quote with what of both is good, for a page that tells what is not."""
        view = await self.show_cart(cart)
        return self._quoted(
            view, _known_province(province), await self._if_good(voucher, view.total, customer)
        )

    def _quoted(self, view: CartView, province: Province | None, voucher: Voucher | None) -> CartQuote:
        goods = [
            Goods(sku=line.sku, quantity=line.quantity, unit_price=line.unit_price, grams=line.grams)
            for line in view.lines
        ]
        quote = quoted(goods, self.charges, province=province, voucher=voucher)
        return CartQuote(cart=view, quote=quote, province=province, voucher=voucher)

    async def _good(self, voucher: str, goods: int, customer: str) -> Voucher:
        known = await self.vouchers.find(voucher_code(voucher), customer=customer)
        return checked_voucher(known, goods=goods, now=self.clock())

    async def _if_good(self, voucher: str, goods: int, customer: str) -> Voucher | None:
        try:
            return await self._good(voucher, goods, customer)
        except Invalid:
            return None


def _known_province(text: str) -> Province | None:
    try:
        return province_of(text)
    except Invalid:
        return None
