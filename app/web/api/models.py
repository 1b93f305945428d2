"""What the API takes and gives. Input is strict: a number is a JSON number, an unknown field is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.shop.money import MOST
from app.shop.orders import Means, OrderStatus

QUANTITY_MOST = 999_999
"""Far past every limit of a cart, small enough for every store: what is over the cart's limit is told so."""


class Input(BaseModel):
    """A request's body."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Output(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Text = Annotated[str, Field(max_length=2000)]
"""Bounded here, judged by the shop, which says more precisely what is wrong."""


class NewAccount(Input):
    """An account to be opened."""

    email: Text
    password: Text
    name: Text


class Credentials(Input):
    """Who wants to come in."""

    email: Text
    password: Text


class NewPassword(Input):
    """The password that counts now, and the one that shall."""

    current: Text
    new: Text


class Forgotten(Input):
    """Whose password is forgotten."""

    email: Text


class Reset(Input):
    """The token of the mail's link, and the password that shall count."""

    token: Text
    new: Text


class ProfileIn(Input):
    """What an account tells of itself; an empty phone number is none."""

    name: Text
    phone: Text
    language: Text


class PasswordGiven(Input):
    """The password, given again."""

    password: Text


class EmailWanted(Input):
    """The e-mail that the account shall have."""

    email: Text


class TokenGiven(Input):
    """The token of a mail's link."""

    token: Text


class NewAddress(Input):
    """A place that parcels go to."""

    name: Text
    phone: Text
    address: Text
    province: Text = ""
    is_default: bool = False


class NewLine(Input):
    """Units to be added to the cart."""

    sku: Text
    quantity: Annotated[int, Field(ge=1, le=QUANTITY_MOST)]


class Quantity(Input):
    """Units that the line shall have; 0 removes it."""

    quantity: Annotated[int, Field(ge=0, le=QUANTITY_MOST)]


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


class QuoteWanted(Input):
    """Where the cart would go, and the voucher it would be bought with."""

    province: Text | None = None
    voucher: Text | None = None


class NewReview(Input):
    """What a customer says of a product, in place of what they said before."""

    rating: Annotated[int, Field(ge=1, le=5)]
    text: Annotated[str, Field(max_length=8000)] = ""


class AccountOut(Output):
    """An account."""

    id: str
    email: str
    name: str


class ProfileOut(Output):
    """An account, in full."""

    id: str
    email: str
    name: str
    phone: str
    language: str
    role: str
    created_at: datetime


class SavedAddressOut(Output):
    """An address that is kept."""

    id: str
    name: str
    phone: str
    address: str
    province: str
    is_default: bool


class SessionOut(Output):
    """Who is logged in."""

    account: AccountOut | None


class DeviceOut(Output):
    """One session of this account."""

    handle: str
    current: bool
    created_at: datetime
    last_seen_at: datetime
    ip: str
    device: str


class ListOut(Output):
    """One page of a longer list."""

    total: int
    page: int
    page_size: int


class AddressesOut(ListOut):
    """Every address of this account, in one page."""

    items: list[SavedAddressOut]


class DevicesOut(ListOut):
    """Every session of this account, in one page."""

    items: list[DeviceOut]


class ProductSummaryOut(Output):
    """A product in a list, at its lowest price."""

    slug: str
    name: str
    category: str
    price: int
    currency: str
    in_stock: bool


class ProductsOut(ListOut):
    """Products."""

    items: list[ProductSummaryOut]


class VariantOut(Output):
    """One thing that can be bought."""

    sku: str
    name: str
    price: int
    stock: int
    options: dict[str, str]


class ReviewOut(Output):
    """What one customer says."""

    id: str
    author: str
    rating: int
    text: str
    written_at: datetime
    edited_at: datetime | None


class OwnReviewOut(ReviewOut):
    """The same with its status: `pending` and `hidden` ones are seen by their author alone."""

    status: str


class ReviewsOut(ListOut):
    """What customers say, newest first; `average` is of all of them, null where there is none."""

    items: list[ReviewOut]
    average: float | None


class ShownReviewsOut(ReviewsOut):
    """The first of them; `age_s` is null unless they are a copy, made so many seconds ago."""

    age_s: float | None


class StockOut(Output):
    """When the stock was looked at; `age_s` is null unless it is the last known one. Null where nobody knows."""

    as_of: datetime
    age_s: float | None


class ProductOut(Output):
    """A product with what belongs to it; `degraded` names the services that could not answer.

    A variant's `stock` is the inventory's, the last known one, or else the catalogue's. `reviews` is null where
    there is not even a copy.
    """

    slug: str
    name: str
    description: str
    category: str
    price: int
    currency: str
    in_stock: bool
    variants: list[VariantOut]
    stock: StockOut | None
    reviews: ShownReviewsOut | None
    recommendations: list[ProductSummaryOut]
    degraded: list[str]


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


class FaultOut(Output):
    """A field that cannot be."""

    field: str
    code: str
    detail: str
    message: str


class ProblemOut(BaseModel):
    """RFC 9457; `code` is stable, `detail` for programmers, `message` (Vietnamese) for shoppers."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    message: str
    errors: list[FaultOut] = []
