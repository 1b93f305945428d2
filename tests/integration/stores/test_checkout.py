"""From a cart on the session to an order in the database, the same request several times at once."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from app.sessions import Session, SessionConfig, Sessions
from app.shop.checkout import PlaceOrder, Purchase
from app.shop.errors import OutOfStock, ShopError
from app.shop.orders import Order, Shipping
from app.stores.catalog import SqlCatalog
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlOrders
from app.stores.session_cart import SessionCart

SHIPPING = Shipping(name="Nguyễn Thị Ánh", phone="0912345678", address="1 Hàng Đào, Hà Nội")


@pytest.fixture
async def sessions(redis_url: str) -> AsyncIterator[Sessions]:
    sessions = Sessions.from_url(
        redis_url,
        keys=[secrets.token_hex(32)],
        config=SessionConfig(cookie_secure=False, timeout=timedelta(seconds=10)),
    )
    await sessions.open()
    yield sessions
    await sessions.close()


class Browser:
    """A cookie, and a new request each time."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._headers: list[tuple[bytes, bytes]] = []

    def cart(self) -> SessionCart:
        return SessionCart(Session(self._sessions, {"type": "http", "headers": self._headers}))

    async def fill(self, sku: str, quantity: int) -> None:
        cart = self.cart()
        await cart.add(sku, quantity, at_most=99)
        sealed = await cart.session.seal()
        if sealed is not None:
            self._headers = [(b"cookie", sealed.split(b";")[0])]


async def buy(orders: SqlOrders, browser: Browser, account: Any, key: str, total: int) -> Order | ShopError:
    try:
        offers = OffersSnapshot(SqlCatalog(database=orders.database).offers)
        return await PlaceOrder(orders=orders, offers=offers)(
            browser.cart(),
            Purchase(account_id=account.id, key=key, shipping=SHIPPING, payment="cod", expected_total=total),
        )
    except ShopError as refusal:
        return refusal


def kinds(outcomes: list[Order | ShopError]) -> Counter[str]:
    return Counter(type(each).__name__ for each in outcomes)


async def test_one_form_ten_times_at_once_is_one_order_and_an_empty_cart(
    orders: SqlOrders, sessions: Sessions, sell: Any, stock: Any, new_account: Any
) -> None:
    await sell("A", stock=100)
    browser, account = Browser(sessions), await new_account()
    await browser.fill("A", 2)
    outcomes = await asyncio.gather(*(buy(orders, browser, account, "k", 2000) for _ in range(10)))
    assert set(kinds(outcomes)) <= {"Order", "KeyInProgress"}
    assert len({each.id for each in outcomes if isinstance(each, Order)}) == 1
    assert await stock("A") == 98
    assert (await browser.cart().read()).quantities == {}


async def test_a_cart_ordered_and_refilled_is_two_orders(
    orders: SqlOrders, sessions: Sessions, sell: Any, stock: Any, new_account: Any
) -> None:
    await sell("A", stock=100)
    browser, account = Browser(sessions), await new_account()
    made = []
    for key in ("one", "two"):
        await browser.fill("A", 1)
        outcomes = await asyncio.gather(
            *(buy(orders, browser, account, f"{key}-{tab}", 1000) for tab in range(4))
        )
        assert kinds(outcomes) == {"Order": 1, "CartOrdered": 3}
        made += [each.id for each in outcomes if isinstance(each, Order)]
    assert len(set(made)) == 2
    assert await stock("A") == 98


async def test_a_buyer_without_luck_keeps_the_cart(
    orders: SqlOrders, sessions: Sessions, sell: Any, new_account: Any
) -> None:
    await sell("A", stock=1)
    browser = Browser(sessions)
    await browser.fill("A", 2)
    assert isinstance(await buy(orders, browser, await new_account(), "k", 2000), OutOfStock)
    assert (await browser.cart().read()).quantities == {"A": 2}


async def test_what_is_added_during_the_order_is_still_in_the_cart(
    orders: SqlOrders, sessions: Sessions, sell: Any, new_account: Any
) -> None:
    await sell("A", stock=100)
    browser, account = Browser(sessions), await new_account()
    await browser.fill("A", 2)
    bought, *_ = await asyncio.gather(
        buy(orders, browser, account, "k", 2000), *(browser.cart().add("B", 1, at_most=99) for _ in range(5))
    )
    kept = (await browser.cart().read()).quantities
    if isinstance(bought, Order):
        assert kept == {"B": 5}
    else:  # some of it came before the order looked, and the total was another one
        assert kept == {"A": 2, "B": 5}
