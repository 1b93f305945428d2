"""A cart and the order that it became: nothing of it is there to be ordered again, wherever its request broke off."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.sessions import SessionConfig, Sessions
from app.shop.cart import CartLines
from app.shop.checkout import take_out
from app.shop.guests import new_guest
from app.shop.orders import THE_SHOP, Move, Order, OrderStatus
from app.stores.carts import SqlCarts
from app.stores.database import Database
from app.stores.orders import SqlOrders
from app.stores.shopper_cart import AccountCarts
from app.stores.snapshot import Snapshot
from tests.integration.stores.test_carts import Clock, Device


@pytest.fixture
async def device_of(database: Database, catalog: Any) -> AsyncIterator[Callable[[Clock], Device]]:
    """A new browser, whose replica's time goes by that clock."""
    sessions = Sessions.from_url(
        "memory://", keys=[secrets.token_hex(32)], config=SessionConfig(cookie_secure=False)
    )
    await sessions.open()
    carts = SqlCarts(database=database)

    def device_of(clock: Clock) -> Device:
        versions = Snapshot(carts.versions, clock=clock)
        return Device(sessions, AccountCarts(carts=carts, versions=versions, offers=catalog.offers))

    yield device_of
    await sessions.close()


Guest = Callable[..., Any]


@pytest.fixture
async def guest_orders(orders: SqlOrders, new_account: Any, ordering: Any, sell: Any) -> Guest:
    """A guest's cart becomes an order, and nobody gets to take it out of the session."""
    await sell("A", stock=50)
    await sell("B", stock=50)
    account = await new_account()

    async def guest_orders(cart: CartLines, payment: str) -> Order:
        units = sum(cart.quantities.values())
        asked = ordering(account, dict(cart.quantities), total=1000 * units, cart_id=cart.cart_id)
        guest = {"account_id": new_guest(), "contact_email": "vang.lai@khach.example", "payment": payment}
        return await orders.place(replace(asked, **guest))

    return guest_orders


async def test_a_guests_cart_that_was_ordered_does_not_come_in_at_the_log_in(
    device_of: Callable[[Clock], Device], guest_orders: Guest, new_account: Any
) -> None:
    device, account = device_of(Clock()), await new_account()
    await device.add("A", 2)
    await guest_orders(await device.lines(), "cod")
    await device.add("A", 1)
    await device.add("B", 3)
    await device.log_in(account)
    for _ in range(3):
        assert await device.quantities() == {"A": 1, "B": 3}, "what came after the order"


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(("becomes", "left"), [("confirmed", {"B": 1}), ("failed", {"A": 2, "B": 1})])
async def test_a_guests_cart_whose_payment_is_open_waits_for_what_becomes_of_it(
    device_of: Callable[[Clock], Device],
    guest_orders: Guest,
    orders: SqlOrders,
    new_account: Any,
    becomes: OrderStatus,
    left: dict[str, int],
    *,
    waits: bool,
) -> None:
    device, account = device_of(Clock()), await new_account()
    await device.add("A", 2)
    order = await guest_orders(await device.lines(), "card")
    if waits:
        await orders.move(order.id, Move(to="awaiting_payment", actor=THE_SHOP))
    await device.log_in(account)
    assert await device.quantities() == {}
    await device.add("B")
    assert await device.quantities() == {"B": 1}, "the account's own cart goes on meanwhile"
    await orders.move(order.id, Move(to=becomes, actor=THE_SHOP))
    for _ in range(3):
        assert await device.quantities() == left


async def test_an_order_that_is_confirmed_by_nobodys_request_empties_the_cart_once(
    device_of: Callable[[Clock], Device], orders: SqlOrders, new_account: Any, ordering: Any, sell: Any
) -> None:
    await sell("A", stock=50)
    clock, account = Clock(), await new_account()
    phone, laptop = device_of(clock), device_of(clock)
    for device in (phone, laptop):
        await device.log_in(account)
    await phone.add("A", 2)
    cart_id = (await phone.lines()).cart_id
    asked = replace(ordering(account, {"A": 2}, total=2000, cart_id=cart_id), payment="card")
    order = await orders.place(asked)
    assert (await phone.lines()).quantities == {"A": 2}, "an order that may come to nothing takes nothing"
    await phone.add("A", 3)
    for _ in range(2):
        order = await orders.move(order.id, Move(to="confirmed", actor=THE_SHOP))
    clock.now += 2.1
    for device in (phone, laptop):
        lines = await device.lines()
        assert (lines.quantities, lines.settled_id) == ({"A": 3}, cart_id)
    await phone.does(lambda cart: take_out(cart, order))
    assert await phone.quantities() == {"A": 3}


async def test_whoever_orders_sees_the_emptied_cart_at_once(
    device_of: Callable[[Clock], Device], orders: SqlOrders, new_account: Any, ordering: Any, sell: Any
) -> None:
    await sell("A", stock=50)
    account, device = await new_account(), device_of(Clock())
    await device.log_in(account)
    await device.add("A", 2)
    cart_id = (await device.lines()).cart_id
    order = await orders.place(ordering(account, {"A": 2}, total=2000, cart_id=cart_id))
    await device.does(lambda cart: take_out(cart, order))
    lines = await device.lines()
    assert (lines.quantities, lines.settled_id) == ({}, cart_id)


async def test_an_order_empties_no_cart_but_its_own(
    device_of: Callable[[Clock], Device], orders: SqlOrders, new_account: Any, ordering: Any, sell: Any
) -> None:
    await sell("A", stock=50)
    account, other, device = await new_account(), await new_account(), device_of(Clock())
    await device.log_in(account)
    await device.add("A", 2)
    await orders.place(ordering(account, {"A": 2}, total=2000, cart_id="an older filling"))
    await orders.place(ordering(other, {"A": 2}, total=2000))
    assert (await SqlCarts(database=orders.database).read(account.id)).lines.quantities == {"A": 2}
