"""Stock, order, key and cart change together or not at all, however many come at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from app.shop.errors import (
    CartOrdered,
    KeyInProgress,
    KeyReused,
    NotFound,
    OutOfStock,
    ShopError,
    TotalChanged,
)
from app.shop.orders import Order, OrderQuery, OrderRequest
from app.stores.database import Database
from app.stores.orders import SqlOrders


async def outcome(orders: SqlOrders, request: OrderRequest) -> Order | ShopError:
    try:
        return await orders.place(request)
    except ShopError as refusal:
        return refusal


async def at_once(orders: SqlOrders, requests: list[OrderRequest]) -> list[Order | ShopError]:
    return await asyncio.gather(*(outcome(orders, request) for request in requests))


def kinds(outcomes: list[Order | ShopError]) -> Counter[str]:
    return Counter(type(each).__name__ for each in outcomes)


async def test_an_order_keeps_what_was_bought_and_takes_the_stock(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=10, price=25_000, name="Trà sen")
    account = await new_account()
    order = await orders.place(ordering(account, {"A": 3}, total=75_000))
    assert (order.total, order.status, order.payment) == (75_000, "confirmed", "cod")
    assert [(line.sku, line.name, line.quantity, line.unit_price) for line in order.lines] == [
        ("A", "Trà sen", 3, 25_000)
    ]
    assert order.shipping.name == "Nguyễn Thị Ánh"
    assert await stock("A") == 7
    assert await orders.by_id(account.id, order.id) == order
    assert await orders.by_cart(account.id, str(order.cart_id)) == order


async def test_forty_buyers_of_the_last_five_units_make_five_orders(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("LAST", stock=5)
    buyers = [await new_account() for _ in range(40)]
    outcomes = await at_once(orders, [ordering(buyer, {"LAST": 1}, total=1000) for buyer in buyers])
    assert kinds(outcomes) == {"Order": 5, "OutOfStock": 35}
    assert await stock("LAST") == 0


async def test_two_who_want_three_of_five_are_one_order(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("FIVE", stock=5)
    buyers = [await new_account() for _ in range(2)]
    outcomes = await at_once(orders, [ordering(buyer, {"FIVE": 3}, total=3000) for buyer in buyers])
    assert kinds(outcomes) == {"Order": 1, "OutOfStock": 1}
    refusal = next(each for each in outcomes if isinstance(each, OutOfStock))
    assert (refusal.sku, refusal.left) == ("FIVE", 2)
    assert await stock("FIVE") == 2


async def test_one_key_ten_times_at_once_is_one_order(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=100)
    request = ordering(await new_account(), {"A": 2}, total=2000)
    outcomes = await at_once(orders, [request] * 10)
    made = [each for each in outcomes if isinstance(each, Order)]
    assert made
    assert all(isinstance(each, Order | KeyInProgress) for each in outcomes)
    assert all(each == made[0] for each in made)
    assert await stock("A") == 98


async def test_the_same_key_again_is_the_same_order(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=100)
    account = await new_account()
    request = ordering(account, {"A": 1}, total=1000)
    order = await orders.place(request)
    assert await orders.place(request) == order
    assert await orders.replay(account.id, request.key, request.fingerprint) == order
    assert await stock("A") == 99


async def test_the_same_key_with_another_request_is_refused(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=100)
    account = await new_account()
    await orders.place(ordering(account, {"A": 1}, total=1000, key="k", fingerprint="one"))
    with pytest.raises(KeyReused):
        await orders.replay(account.id, "k", "other")
    with pytest.raises(KeyReused):
        await orders.place(ordering(account, {"A": 1}, total=1000, key="k", fingerprint="other"))
    assert await stock("A") == 99


async def test_keys_of_two_accounts_are_two_keys(
    orders: SqlOrders, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A")
    one, other = await new_account(), await new_account()
    first = await orders.place(ordering(one, {"A": 1}, total=1000, key="k"))
    assert await orders.replay(other.id, "k", "print") is None
    second = await orders.place(ordering(other, {"A": 1}, total=1000, key="k"))
    assert first.id != second.id


async def test_one_cart_with_many_keys_at_once_is_one_order_that_the_others_lead_to(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=100)
    account = await new_account()
    outcomes = await at_once(
        orders, [ordering(account, {"A": 1}, total=1000, cart_id="one-cart") for _ in range(10)]
    )
    assert kinds(outcomes) == {"Order": 1, "CartOrdered": 9}
    order = next(each for each in outcomes if isinstance(each, Order))
    assert {each.order_id for each in outcomes if isinstance(each, CartOrdered)} == {order.id}
    assert await stock("A") == 99


async def test_a_cart_that_somebody_else_ordered_leads_nowhere(
    orders: SqlOrders, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A")
    one, other = await new_account(), await new_account()
    order = await orders.place(ordering(one, {"A": 1}, total=1000, cart_id="c"))
    with pytest.raises(NotFound):
        await orders.place(ordering(other, {"A": 1}, total=1000, cart_id="c"))
    assert await orders.by_id(other.id, order.id) is None
    assert await orders.by_cart(other.id, "c") is None
    assert (await orders.page(other.id, OrderQuery(page=1, page_size=10))).total == 0


async def test_carts_with_the_same_goods_in_any_order_never_block_each_other(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    for sku in ("A", "B", "C"):
        await sell(sku, stock=1000)
    account = await new_account()
    carts = [{"A": 1, "B": 1}, {"B": 1, "A": 1}, {"C": 1, "B": 1, "A": 1}]
    requests = [ordering(account, cart, total=1000 * len(cart)) for _ in range(20) for cart in carts]
    assert kinds(await at_once(orders, requests)) == {"Order": 60}
    assert [await stock(sku) for sku in ("A", "B", "C")] == [940, 940, 980]


async def test_a_total_that_is_not_todays_is_refused_and_nothing_changes(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=4, price=1500)
    account = await new_account()
    with pytest.raises(TotalChanged) as refused:
        await orders.place(ordering(account, {"A": 2}, total=2000, cart_id="c", key="k"))
    assert (refused.value.expected, refused.value.actual) == (2000, 3000)
    assert await stock("A") == 4
    assert await orders.by_cart(account.id, "c") is None
    order = await orders.place(ordering(account, {"A": 2}, total=3000, cart_id="c", key="k"))
    assert order.total == 3000


async def test_one_line_without_stock_keeps_the_others_on_the_shelf(
    orders: SqlOrders, sell: Any, stock: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=4)
    await sell("B", stock=0)
    with pytest.raises(OutOfStock, match="B has 0 left"):
        await orders.place(ordering(await new_account(), {"A": 1, "B": 1}, total=2000))
    assert await stock("A") == 4


async def test_of_what_is_hidden_or_unknown_nothing_is_left(
    orders: SqlOrders, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("H", visible=False)
    account = await new_account()
    for sku in ("H", "UNKNOWN"):
        with pytest.raises(OutOfStock) as refused:
            await orders.place(ordering(account, {sku: 1}, total=1000))
        assert (refused.value.sku, refused.value.left) == (sku, 0)


async def test_the_number_tells_the_day_in_vietnam(
    database: Database, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A")
    orders = SqlOrders(database=database, clock=lambda: datetime(2026, 1, 31, 17, 30, tzinfo=UTC))
    order = await orders.place(ordering(await new_account(), {"A": 1}, total=1000))
    assert order.number == "260201-000001"
    assert order.placed_at == datetime(2026, 1, 31, 17, 30, tzinfo=UTC)


async def test_a_list_of_orders_is_paged_newest_first(
    orders: SqlOrders, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", stock=100)
    await sell("B", stock=100)
    account = await new_account()
    made = [await orders.place(ordering(account, {"A": 1, "B": 1}, total=2000)) for _ in range(5)]
    page = await orders.page(account.id, OrderQuery(page=2, page_size=2))
    assert (page.total, page.pages) == (5, 3)
    assert list(page.items) == [made[2], made[1]]
    assert (await orders.page(account.id, OrderQuery(page=9, page_size=2))).items == []


@pytest.mark.parametrize("order_id", ["", "1", "x" * 5000, "\0", "\ud800", "' OR 1=1 --", "{%s}"])
async def test_what_is_no_id_finds_nothing(orders: SqlOrders, new_account: Any, order_id: str) -> None:
    account = await new_account()
    assert await orders.by_id(account.id, order_id) is None
    assert await orders.by_cart(account.id, order_id) is None
    assert await orders.replay(account.id, order_id, "print") is None
    assert (await orders.page(order_id, OrderQuery(page=1, page_size=10))).total == 0
