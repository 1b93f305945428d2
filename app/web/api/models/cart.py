"""The cart, and what it would cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.web.api.models.base import Input, Output, Text

QUANTITY_MOST = 999_999
"""Far past every limit of a cart, small enough for every store: what is over the cart's limit is told so."""


class NewLine(Input):
    """Units to be added to the cart."""

    sku: Text
    quantity: Annotated[int, Field(ge=1, le=QUANTITY_MOST)]


class Quantity(Input):
    """Units that the line shall have; 0 removes it."""

    quantity: Annotated[int, Field(ge=0, le=QUANTITY_MOST)]


class QuoteWanted(Input):
    """Where the cart would go, and the voucher it would be bought with."""

    province: Text | None = None
    voucher: Text | None = None


class CartLineOut(Output):
    """A line of the cart; `available` is false when the shop cannot sell that many now."""

    sku: str
    slug: str
    name: str
    quantity: int
    unit_price: int
    total: int
    available: bool


class LeftOutOut(Output):
    """Units that found no room when a cart that was filled before the log-in came in."""

    sku: str
    name: str
    quantity: int


class CartOut(Output):
    """The cart; `gone` are SKUs in it that the shop no longer sells.

    `left_out` is told until a line is set or removed, or the cart is ordered.
    """

    lines: list[CartLineOut]
    count: int
    total: int
    currency: str
    gone: list[str]
    left_out: list[LeftOutOut]


class QuoteLineOut(Output):
    """A line's part in the sums; `vat` is in what is left of `total` after `discount`."""

    sku: str
    total: int
    discount: int
    vat: int


class QuoteOut(Output):
    """What the cart costs: `total` = `subtotal` - `discount` + `shipping_fee`, and includes the VAT.

    The lines' totals, discounts and VAT, with `shipping_vat`, sum to those of the whole.
    """

    lines: list[QuoteLineOut]
    subtotal: int
    discount: int
    shipping_fee: int
    shipping_vat: int
    vat_included: int
    total: int
    currency: str
    province: str | None
    voucher: str | None
