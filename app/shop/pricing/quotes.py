"""The sums of an order, each of which its lines sum up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.shop.catalog import Sku
from app.shop.pricing.charges import Charges
from app.shop.pricing.provinces import Province
from app.shop.pricing.splitting import split
from app.shop.pricing.vat import vat_in
from app.shop.pricing.vouchers import Voucher, discount_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Goods:
    """Units of a SKU at their price in whole đồng, tax included; `grams` is what one of them weighs."""

    sku: Sku
    quantity: int
    unit_price: int
    grams: int

    @property
    def total(self) -> int:
        """The line before any discount."""
        return self.quantity * self.unit_price


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteLine:
    """A line's part in the sums: `total` before the discount, `vat` in what is left after it."""

    sku: Sku
    total: int
    discount: int
    vat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What an order costs: `total` is `subtotal` - `discount` + `shipping_fee`, and includes the tax.

    The lines' totals sum to the subtotal, their discounts to the discount; the tax in the lines and the
    one in the fee (`shipping_vat`) sum to `vat_included`, which is the tax in the total.
    """

    lines: Sequence[QuoteLine]
    subtotal: int
    discount: int
    shipping_fee: int
    shipping_vat: int
    vat_included: int

    @property
    def total(self) -> int:
        """What is paid."""
        return self.subtotal - self.discount + self.shipping_fee


def quoted(
    goods: Sequence[Goods],
    charges: Charges,
    *,
    province: Province | None = None,
    voucher: Voucher | None = None,
) -> Quote:
    """What those goods cost, sent to that province.

    Without a province there is no fee in the sums: the receiver pays the carrier.
    """
    totals = [line.total for line in goods]
    subtotal = sum(totals)
    discount = discount_of(voucher, subtotal) if voucher else 0
    grams = sum(line.quantity * line.grams for line in goods)
    fee = charges.shipping_fee(province, grams=grams, goods=subtotal - discount) if province and goods else 0
    discounts = split(discount, totals)
    paid = [total - off for total, off in zip(totals, discounts, strict=True)]
    vat = vat_in(sum(paid) + fee, charges.vat_percent)
    *vats, shipping_vat = split(vat, [*paid, fee])
    lines = [
        QuoteLine(sku=line.sku, total=line.total, discount=off, vat=tax)
        for line, off, tax in zip(goods, discounts, vats, strict=True)
    ]
    return Quote(
        lines=lines,
        subtotal=subtotal,
        discount=discount,
        shipping_fee=fee,
        shipping_vat=shipping_vat,
        vat_included=vat,
    )
