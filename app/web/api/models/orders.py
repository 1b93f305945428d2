"""Orders, of accounts and of guests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.shop.money import MOST
from app.shop.orders import Means, OrderStatus
from app.web.api.models.base import Input, ListOut, Output, Text


class Address(Input):
    """Where the parcel goes; `province` by its name or code, an old name too.

    Without a province there is no shipping fee in the total: the receiver pays the carrier.
    """

    name: Text
    phone: Text
    address: Text
    province: Text | None = None


class Payment(Input):
    """How it is paid: `cod` is payment on delivery, everything else the acquirer's token of a card."""

    token: Text


class NewOrder(Input):
    """The cart, bought at the total that the shopper saw."""

    shipping: Address
    payment: Payment
    expected_total: Annotated[int, Field(ge=0, le=MOST)]
    voucher: Text | None = None


class NewGuestOrder(NewOrder):
    """The same of somebody without an account, who is told by e-mail."""

    email: Text


class OrderLineOut(Output):
    """A line of an order, at the price it was sold for."""

    sku: str
    name: str
    quantity: int
    unit_price: int
    total: int


class ShippingOut(Output):
    """Where the parcel goes."""

    name: str
    phone: str
    address: str
    province: str | None


class OrderOut(Output):
    """An order; the lines make the subtotal, and with fee and discount the total, which includes the VAT.

    `redirect_url` is where the shopper's bank waits while the status is ``awaiting_payment``.
    """

    id: str
    number: str
    status: OrderStatus
    lines: list[OrderLineOut]
    subtotal: int
    shipping_fee: int
    discount: int
    vat_included: int
    total: int
    currency: str
    shipping: ShippingOut
    payment: Means
    redirect_url: str | None
    placed_at: datetime


class GuestOrderOut(OrderOut):
    """An order without an account; `follow` is the path of the page that shows it to whoever has the link."""

    follow: str


class OrdersOut(ListOut):
    """This account's orders, newest first."""

    items: list[OrderOut]
