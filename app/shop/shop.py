"""The shop as the web sees it: its use cases, ready to call."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.accounts import Accounts, LogIn, Register
from app.shop.cancelling import CancelOrder
from app.shop.cart import AddToCart, PutInCart, ShowCart
from app.shop.catalog import Catalog
from app.shop.checkout import PlaceOrder
from app.shop.fulfilment import MoveOrder
from app.shop.guests import FollowOrder, GuestLinks
from app.shop.orders import Orders
from app.shop.password import ChangePassword
from app.shop.people import People
from app.shop.product_page import ShowProduct
from app.shop.quoting import QuoteCart
from app.shop.reviewing import Reviewing
from app.shop.revocations import EndSession, EndSessions
from app.shop.settlement import Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Everything a route may call; `reviewing` is None in a shop without reviews."""

    catalog: Catalog
    show_product: ShowProduct
    reviewing: Reviewing | None
    accounts: Accounts
    orders: Orders
    register: Register
    log_in: LogIn
    change_password: ChangePassword
    people: People
    end_session: EndSession
    end_sessions: EndSessions
    show_cart: ShowCart
    add_to_cart: AddToCart
    put_in_cart: PutInCart
    quote_cart: QuoteCart
    place_order: PlaceOrder
    guest_links: GuestLinks
    follow_order: FollowOrder
    cancel_order: CancelOrder
    move_order: MoveOrder
    settlement: Settlement | None
