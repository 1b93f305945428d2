"""Vouchers under concurrency: counted with the order that uses them, given back with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from app.shop.errors import Invalid, ShopError, TotalChanged
from app.shop.guests import new_guest
from app.shop.orders import THE_SHOP, Move, Order, OrderRequest
from app.shop.pricing import Voucher, province_of, standard_charges
from app.stores.database import Database
from app.stores.orders import SqlOrders
from app.stores.tables_vouchers import voucher_uses
from app.stores.vouchers import SqlVouchers

NOW = datetime(2026, 11, 30, 17, tzinfo=UTC)
TEN = Voucher(code="MUOI", percent=10, starts_at=NOW - timedelta(days=1))


@pytest.fixture
def vouchers(database: Database) -> SqlVouchers:
    return SqlVouchers(database=database)


@pytest.fixture
def orders(database: Database) -> SqlOrders:
    return SqlOrders(database=database, clock=lambda: NOW)


async def outcome(orders: SqlOrders, request: OrderRequest) -> Order | ShopError:
    try:
        return await orders.place(request)
    except ShopError as refused:
        return refused


async def used(vouchers: SqlVouchers, database: Database) -> tuple[int, int]:
    """What the voucher counts, and the uses there are."""
    known = await vouchers.find(TEN.code, customer="")
    rows = await database.row(select(func.count()).select_from(voucher_uses))
    assert known is not None
    assert rows is not None
    return known.used, int(rows[0])


async def test_of_twenty_at_once_a_voucher_for_one_is_used_by_one(
    orders: SqlOrders,
    vouchers: SqlVouchers,
    database: Database,
    sell: Any,
    stock: Any,
    new_account: Any,
    ordering: Any,
) -> None:
    """Each buys another thing, so that nothing but the voucher keeps them apart."""
    for number in range(20):
        await sell(f"A{number}", price=1_005)
    await vouchers.add(replace(TEN, limit=1))
    account = await new_account()
    requests = [
        replace(ordering(account, {f"A{number}": 1}, total=905), voucher="MUOI") for number in range(20)
    ]
    outcomes = await asyncio.gather(*(outcome(orders, request) for request in requests))
    made = [each for each in outcomes if isinstance(each, Order)]
    assert [(each.totals.discount, each.total) for each in made] == [(100, 905)]
    assert {each.code for each in outcomes if isinstance(each, Invalid)} == {"voucher_used_up"}
    assert await used(vouchers, database) == (1, 1)
    assert sum([await stock(f"A{number}") for number in range(20)]) == 199


async def test_one_customer_uses_it_as_often_as_one_may_and_others_still_can(
    orders: SqlOrders, vouchers: SqlVouchers, sell: Any, new_account: Any, ordering: Any
) -> None:
    for number in range(5):
        await sell(f"A{number}", price=1_000)
    await vouchers.add(replace(TEN, limit_each=2))
    first, second = await new_account(), await new_account()
    requests = [
        replace(ordering(account, {f"A{number}": 1}, total=900), voucher="MUOI")
        for account in (first, second)
        for number in range(5)
    ]
    outcomes = await asyncio.gather(*(outcome(orders, request) for request in requests))
    by = [each.account_id for each in outcomes if isinstance(each, Order)]
    assert sorted(map(str, by)) == sorted([first.id, first.id, second.id, second.id])
    assert {each.code for each in outcomes if isinstance(each, Invalid)} == {"voucher_used"}


async def test_a_guest_with_a_fresh_cookie_is_the_same_customer_by_the_e_mail(
    orders: SqlOrders, vouchers: SqlVouchers, sell: Any, new_account: Any, ordering: Any
) -> None:
    for number in range(4):
        await sell(f"A{number}", price=1_000)
    await vouchers.add(replace(TEN, limit_each=1))
    nobody = await new_account()
    e_mails = ("Khach@chopho.example", "khach@CHOPHO.example", "KHACH@chopho.example", "ban@chopho.example")
    requests = [
        replace(
            ordering(nobody, {f"A{number}": 1}, total=900),
            account_id=new_guest(),
            contact_email=e_mail,
            voucher="MUOI",
        )
        for number, e_mail in enumerate(e_mails)
    ]
    outcomes = await asyncio.gather(*(outcome(orders, request) for request in requests))
    assert [isinstance(each, Order) for each in outcomes].count(True) == 2
    assert isinstance(outcomes[-1], Order)
    assert [each.code for each in outcomes if isinstance(each, Invalid)] == ["voucher_used"] * 2


@pytest.mark.parametrize(("payment", "to"), [("cod", "cancelled"), ("card", "failed")])
async def test_an_order_that_comes_to_nothing_gives_its_voucher_back_once(
    orders: SqlOrders,
    vouchers: SqlVouchers,
    database: Database,
    sell: Any,
    new_account: Any,
    ordering: Any,
    payment: Any,
    to: Any,
) -> None:
    await sell("A", price=1_000)
    await vouchers.add(replace(TEN, limit=1))
    account = await new_account()
    for _ in range(2):
        request = replace(ordering(account, {"A": 1}, total=900), voucher="MUOI", payment=payment)
        order = await orders.place(request)
        assert await used(vouchers, database) == (1, 1)
        moves = [orders.move(order.id, Move(to=to, actor=THE_SHOP)) for _ in range(4)]
        await asyncio.gather(*moves)
        assert await used(vouchers, database) == (0, 0)


async def test_a_refused_order_uses_no_voucher(
    orders: SqlOrders, vouchers: SqlVouchers, database: Database, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", price=1_000)
    await vouchers.add(replace(TEN, minimum=1_000))
    account = await new_account()
    request = replace(ordering(account, {"A": 1}, total=1_000), voucher="MUOI")
    assert isinstance(await outcome(orders, request), TotalChanged)
    for code in ("KHONG-CO", "MUOI'--"):
        wrong = await outcome(orders, replace(request, voucher=code))
        assert isinstance(wrong, Invalid)
        assert wrong.code == "voucher_unknown"
    assert await used(vouchers, database) == (0, 0)


async def test_a_voucher_ends_when_it_is_ended_and_its_code_is_taken_for_good(
    orders: SqlOrders, vouchers: SqlVouchers, sell: Any, new_account: Any, ordering: Any
) -> None:
    await sell("A", price=1_000)
    assert await vouchers.add(replace(TEN, starts_at=NOW + timedelta(days=1)))
    assert not await vouchers.add(TEN)
    assert await vouchers.end("MUOI", at=NOW)
    assert not await vouchers.end("MUOI", at=NOW)
    assert not await vouchers.end("KHONG-CO", at=NOW)
    [known] = await vouchers.page()
    assert known.voucher.ends_at == NOW
    request = replace(ordering(await new_account(), {"A": 1}, total=900), voucher="MUOI")
    refused = await outcome(orders, request)
    assert isinstance(refused, Invalid)
    assert refused.code == "voucher_ended"


async def test_fee_discount_and_tax_are_kept_with_the_order_and_sum_to_its_total(
    orders: SqlOrders, vouchers: SqlVouchers, sell: Any, new_account: Any, ordering: Any
) -> None:
    """Two of a thing of 500 g to Cà Mau: a kilogram, within the first step."""
    await sell("A", price=33_333)
    await vouchers.add(TEN)
    account = await new_account()
    request = ordering(account, {"A": 2}, total=0)
    fee = standard_charges().shipping_fee(province_of("Cà Mau"), grams=1_000, goods=60_000)
    request = replace(
        request,
        voucher="MUOI",
        shipping=replace(request.shipping, province="Cà Mau"),
        expected_total=66_666 - 6_666 + fee,
    )
    order = await orders.place(request)
    kept = await orders.by_id(account.id, order.id)
    assert kept is not None
    assert kept.totals == order.totals
    assert (kept.totals.subtotal, kept.totals.discount, kept.totals.shipping_fee) == (66_666, 6_666, fee)
    assert kept.totals.vat_included == round((60_000 + fee) * 8 / 108)
    assert kept.shipping.province == "Cà Mau"
