"""The cart: quantities by SKU, kept by a port; names and prices are looked up, never stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from app.shop.catalog import Offer, Picture, Sku
from app.shop.errors import CartLimit, Invalid, NotFound, OutOfStock


class PriceList(Protocol):
    """Names and prices that may be a little old, and can be told that they are."""

    async def __call__(self, skus: Iterable[Sku], /) -> Mapping[Sku, Offer]:
        """The offers of those SKUs that the shop sells."""

    def forget(self, skus: Iterable[Sku]) -> None:
        """Look these up anew when they are asked for next."""


Offers = Callable[[Iterable[Sku]], Awaitable[Mapping[Sku, Offer]]]
"""Where names and prices are looked up: the catalogue, or a snapshot of it at most 2 s old."""

LINE_LIMIT: Final = 99
"""Units of one SKU in a cart; a shop for people, not for wholesale."""

LINES_LIMIT: Final = 100
"""Different SKUs in a cart; half of what one session may hold in fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CartLines:
    """A cart as stored.

    `cart_id` names one filling of it and becomes the order's; None while nothing was added.
    `settled_id` is the filling that was ordered last. `left_out` are units of a guest's cart that found no
    room when it was brought into this one, until this one is changed.
    """

    cart_id: str | None
    quantities: Mapping[Sku, int]
    settled_id: str | None = None
    left_out: Mapping[Sku, int] = field(default_factory=dict)


class Cart(Protocol):
    """One shopper's cart.

    Raises `Unavailable` when the store is away, `CartLimit` at a limit: `at_most` of it is 0 where the
    cart has no room for another line.
    """

    async def read(self) -> CartLines:
        """The lines; creates nothing for those who have none."""

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        """Add units atomically and return the line's new quantity; past `at_most` nothing changes.

        Of several adds with the same `once`, also at the same moment, one counts.
        """

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        """Set a line; 0 removes it."""

    async def settle(self, ordered: CartLines) -> bool:
        """Take what was ordered out of the cart, once per cart id, and renew the id; False if done before."""


@dataclass(frozen=True, slots=True)
class CartLine:
    """A line as shown."""

    # Two fields, for each cart that is shown makes them anew.
    offer: Offer
    quantity: int

    @property
    def sku(self) -> Sku:
        """What it is of."""
        return self.offer.sku

    @property
    def slug(self) -> str:
        """The product's, for its page."""
        return self.offer.slug

    @property
    def name(self) -> str:
        """The product's and the variant's."""
        return self.offer.name

    @property
    def unit_price(self) -> int:
        """One unit in whole đồng."""
        return self.offer.price

    @property
    def picture(self) -> Picture | None:
        """The product's first, if it has one."""
        return self.offer.picture

    @property
    def grams(self) -> int:
        """The weight of one unit."""
        return self.offer.grams

    @property
    def available(self) -> bool:
        """False when the shop cannot sell that many now."""
        return self.quantity <= self.offer.stock

    @property
    def total(self) -> int:
        """The line in whole đồng."""
        return self.quantity * self.offer.price


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Units of a guest's cart that found no room in the account's."""

    sku: Sku
    name: str
    quantity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CartView:
    """A cart with names and prices. `gone` are SKUs that the shop no longer sells."""

    cart_id: str | None
    lines: Sequence[CartLine]
    gone: Sequence[Sku]
    left_out: Sequence[LeftOut] = ()

    @property
    def count(self) -> int:
        """Units over all lines."""
        return sum(line.quantity for line in self.lines)

    @property
    def total(self) -> int:
        """All lines in whole đồng."""
        return sum(line.total for line in self.lines)


def priced(cart: CartLines, offers: Mapping[Sku, Offer]) -> CartView:
    """The cart with names and prices, in the order of its SKUs; unknown SKUs end up in `gone`."""
    lines = [
        CartLine(offer, quantity)
        for sku, quantity in sorted(cart.quantities.items())
        if (offer := offers.get(sku)) is not None
    ]
    gone = sorted(cart.quantities.keys() - offers.keys())
    left_out = _left_out(cart, offers) if cart.left_out else ()
    return CartView(cart_id=cart.cart_id, lines=lines, gone=gone, left_out=left_out)


def _left_out(cart: CartLines, offers: Mapping[Sku, Offer]) -> Sequence[LeftOut]:
    return [
        LeftOut(sku=sku, name=offers[sku].name if sku in offers else sku, quantity=quantity)
        for sku, quantity in sorted(cart.left_out.items())
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCart:
    """The cart with today's names and prices."""

    offers: Offers

    async def __call__(self, cart: Cart) -> CartView:
        """The cart, priced."""
        lines = await cart.read()
        skus = {**lines.quantities, **lines.left_out} if lines.left_out else lines.quantities
        return priced(lines, await self.offers(skus) if skus else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class AddToCart:
    """Put units of a SKU into a cart, within the stock and the limit of a line."""

    offers: Offers

    async def __call__(self, cart: Cart, sku: Sku, quantity: int, *, once: str | None = None) -> int:
        """The line's new quantity; raises `Invalid`, `NotFound`, `OutOfStock`, `CartLimit`.

        A request that was sent again carries the same `once` and has the effect of one.
        """
        if quantity < 1:
            raise Invalid("quantity", "must be at least 1", code="quantity_invalid")
        most = _most(await _offer(self.offers, sku))
        if quantity > most:
            raise CartLimit(sku, at_most=most)
        return await cart.add(sku, quantity, at_most=most, once=once)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutInCart:
    """Set a line of a cart; 0 removes it, also when the shop no longer sells it."""

    offers: Offers

    async def __call__(self, cart: Cart, sku: Sku, quantity: int) -> None:
        """Raises `Invalid`, `NotFound`, `OutOfStock`, `CartLimit`."""
        if quantity < 0:
            raise Invalid("quantity", "must be 0 or more", code="quantity_invalid")
        if quantity == 0:
            await cart.put(sku, 0, at_most=LINE_LIMIT)
            return
        most = _most(await _offer(self.offers, sku))
        if quantity > most:
            raise CartLimit(sku, at_most=most)
        await cart.put(sku, quantity, at_most=most)


async def _offer(offers: Offers, sku: Sku) -> Offer:
    offer = (await offers((sku,))).get(sku)
    if offer is None:
        raise NotFound("product")
    return offer


def _most(offer: Offer) -> int:
    if offer.stock < 1:
        raise OutOfStock(offer.sku, left=0)
    return min(LINE_LIMIT, offer.stock)
