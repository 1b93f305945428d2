"""What a route works with: the shop, and the cart of the session that asks."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request

from app.sessions import Session, session_of
from app.shop.cart import Cart
from app.shop.desk.desk import Desk
from app.shop.errors import Invalid, NotFound
from app.shop.reviewing import Reviewing
from app.shop.shop import Shop
from app.shop.text import clean

CartOf = Callable[[Session], Cart]

_NAME_MOST = 200
"""Characters of a slug, a SKU or an id."""


def shop_of(request: Request) -> Shop:
    """The shop's use cases."""
    shop: Shop = request.app.state.shop
    return shop


def desk_of(request: Request) -> Desk:
    """What the owner's desk can do."""
    desk: Desk = request.app.state.desk
    return desk


def reviewing_of(request: Request) -> Reviewing:
    """What people do with reviews; raises `NotFound` in a shop without any."""
    reviewing = shop_of(request).reviewing
    if reviewing is None:
        raise NotFound("reviews")
    return reviewing


def cart_of(request: Request) -> Cart:
    """The cart of the session that this request belongs to; costs nothing until it is asked."""
    build: CartOf = request.app.state.cart_of
    return build(session_of(request))


def client_of(request: Request) -> str:
    """The caller's address, as far as trusted proxies told it."""
    return request.client.host if request.client else ""


def known_name(what: str, text: str) -> str:
    """A slug, SKU or id as it could exist; raises `NotFound` for what none can be, before any store is asked."""
    try:
        is_clean = clean(what, text, most=_NAME_MOST) == text
    except Invalid:
        is_clean = False
    if not is_clean:
        raise NotFound(what)
    return text
