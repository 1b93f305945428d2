"""Whoever was erased stays it, whatever a request of theirs was still about to write."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.shop.addresses import Place
from app.shop.errors import LoginNeeded, OrdersUnderWay
from app.shop.mail import Message
from app.stores.addresses import SqlAddresses
from app.stores.database import Database
from app.stores.desk.people import SqlAccountBook
from app.stores.emails import SqlEmailChanges
from app.stores.erasure import SqlErasure
from app.stores.orders import SqlOrders
from app.stores.tables_orders import orders as order_table
from tests.integration.stores.conftest import NewAccount, Ordering, Sell, Stock

PLACE = Place(name="Ánh", phone="0912345678", address="1 Hàng Đào")


async def test_nothing_more_is_written_about_who_was_erased(
    database: Database,
    orders: SqlOrders,
    new_account: NewAccount,
    sell: Sell,
    stock: Stock,
    ordering: Ordering,
) -> None:
    await sell("A")
    account = await new_account()
    await SqlErasure(database=database).erase(account.id)
    with pytest.raises(LoginNeeded):
        await orders.place(ordering(account, {"A": 1}, total=1000))
    with pytest.raises(LoginNeeded):
        await SqlAddresses(database=database).add(account.id, PLACE, is_default=True, most=20)
    with pytest.raises(LoginNeeded):
        await SqlEmailChanges(database=database).ask(
            account.id,
            email="anh@khach.example",
            key="anh@khach.example",
            lasts=timedelta(hours=1),
            mail=Message(kind="email_confirm", recipient="anh@khach.example", language="vi", fields={}),
        )
    assert await stock("A") == 10
    assert (await SqlAccountBook(database=database).page("erased", page=1, page_size=10)).total == 0


async def test_an_order_beside_the_erasure_is_there_with_its_account_or_not_at_all(
    database: Database, orders: SqlOrders, new_account: NewAccount, sell: Sell, ordering: Ordering
) -> None:
    await sell("A", stock=100)
    erasure = SqlErasure(database=database)
    for _ in range(10):
        account = await new_account()
        placed, erased = await asyncio.gather(
            orders.place(ordering(account, {"A": 1}, total=1000)),
            erasure.erase(account.id),
            return_exceptions=True,
        )
        own = await database.rows(select(order_table).where(order_table.c.account_id == account.id))
        if isinstance(placed, BaseException):
            assert isinstance(placed, LoginNeeded)
            assert (len(own), isinstance(erased, int)) == (0, True)
        else:
            assert (len(own), type(erased)) == (1, OrdersUnderWay)
