"""Many buyers, few units, one connection: what races must not bring about."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, func, select, text

from app.clients.payments import HttpPayments
from app.shop.desk.audit import Deed
from app.shop.errors import PaymentsUnavailable, ShopError, TotalChanged, WrongStatus
from app.shop.fulfilment import MoveOrder
from app.shop.orders import Booking, Move, Order, OrderQuery, OrderRequest
from app.stores.database import Database, DatabaseConfig
from app.stores.orders import SqlLedger
from app.stores.tables_orders import order_events, order_lines, orders
from tests.integration.checkout.conftest import new_till
from tests.integration.checkout.till import SHIPPING, HeapCart, Till
from tests.integration.payments.conftest import Acquirer


async def outcome(till: Till, token: str, key: str = "key") -> str:
    try:
        return (await till.buy(token, key)).status
    except ShopError as refusal:
        return type(refusal).__name__


async def test_a_hundred_buyers_of_one_unit_are_one_order_paid_once(till: Till, database: Database) -> None:
    async with database.engine.begin() as connection:
        await connection.execute(text("UPDATE variants SET stock = 1 WHERE sku = 'A'"))
    buyers = [replace(till, cart=HeapCart({"A": 1})) for _ in range(100)]
    means = ("tok_ok", "cod")
    outcomes = await asyncio.gather(
        *(outcome(buyer, means[number % 2], f"key-{number}") for number, buyer in enumerate(buyers))
    )
    assert Counter(outcomes) == {"confirmed": 1, "OutOfStock": 99}
    told = await till.told()
    assert (told["orders"], told["stock"], told["reserved"]) == (["confirmed"], 0, 0)
    assert len(told["held"]) <= 1
    await no_orphans(database)
    assert sum(1 for buyer in buyers if buyer.cart.quantities) == 99, "the others keep their carts"


async def an_order(database: Database) -> None:
    """Return once there is one, in whatever status."""
    for _ in range(1000):
        if await database.rows(select(orders.c.id)):
            return
        await asyncio.sleep(0.02)
    pytest.fail("nobody ordered")


async def no_orphans(database: Database) -> None:
    """No line, event or reservation without its order, no order without lines."""
    row = await database.row(
        select(
            select(func.count())
            .select_from(orders)
            .where(~select(order_lines.c.order_id).where(order_lines.c.order_id == orders.c.id).exists())
            .scalar_subquery()
            .label("orders"),
            select(func.count())
            .select_from(orders)
            .where(~select(order_events.c.id).where(order_events.c.order_id == orders.c.id).exists())
            .scalar_subquery()
            .label("events"),
        )
    )
    assert row is not None
    assert tuple(row) == (0, 0)


async def test_carts_in_any_order_never_deadlock_while_orders_are_cancelled_and_fail(
    till: Till, database: Database
) -> None:
    """The full figure of 40 carts over 20 rounds is `python -m bench.checkout`."""
    async with database.engine.begin() as connection:
        await connection.execute(text("UPDATE variants SET stock = 1000"))
    carts: Sequence[dict[str, int]] = [{"A": 1, "B": 1}, {"B": 1, "A": 1}, {"A": 2, "B": 1}]
    undone: list[int] = []

    async def one(number: int) -> None:
        buyer = replace(till, cart=HeapCart(dict(carts[number % 3])))
        order = await buyer.buy("cod", f"key-{number}")
        if number % 4 == 0:
            await buyer.cancel(order.id)
            undone.append(number)

    for turn in range(3):
        await asyncio.gather(*(one(40 * turn + number) for number in range(40)))
    kept = [number for number in range(120) if number not in undone]
    assert await till.stock("A") == 1000 - sum(carts[number % 3]["A"] for number in kept)
    assert await till.stock("B") == 1000 - len(kept)
    assert [
        await till.database.row(
            text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        )
    ] == [(0,)]


async def test_while_the_bank_thinks_the_only_connection_is_free(
    till: Till, acquirer: Acquirer, till_database_url: str
) -> None:
    acquirer.fault(endpoint="POST /v1/payments", latency_s=2, for_s=60)
    narrow = Database(DatabaseConfig(url=till_database_url, pool_size=1, pool_wait_s=20, answer_within_s=30))
    try:
        buying = asyncio.create_task(replace(till, database=narrow).buy("tok_ok"))
        await an_order(narrow)
        assert [row.status for row in await narrow.rows(select(orders.c.status))] == ["placing"]
        assert not buying.done()
        idle = text("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
        assert [tuple(row) for row in await narrow.rows(idle)] == [(0,)]
        assert (await buying).status == "confirmed"
    finally:
        await narrow.close()


async def test_a_request_slower_than_its_lease_and_the_recovery_agree(till: Till, acquirer: Acquirer) -> None:
    """The recovery gives the order up while the bank still thinks; the bank is not asked for nothing."""
    acquirer.fault(endpoint="POST /v1/payments", latency_s=2, for_s=60)
    buying = asyncio.create_task(outcome(till, "tok_ok"))
    await an_order(till.database)
    await till.recover()
    assert await buying == "PaymentsUnavailable"
    assert (await till.told()) == {"orders": [], "held": [], "stock": 10, "reserved": 0}


async def test_many_replicas_recover_each_payment_once(till: Till, database: Database) -> None:
    ledger = SqlLedger(database=database)
    for number in range(12):
        request = OrderRequest(
            account_id=till.account_id,
            cart_id=f"cart-{number}",
            quantities={"C" if number < 10 else "B": 1},
            expected_total=1000,
            shipping=SHIPPING,
            payment="card",
            key=f"key-{number}",
            fingerprint="print",
            lease=timedelta(0),
        )
        await till.orders.place(request)
    taken = await asyncio.gather(*(ledger.due(most=4) for _ in range(6)))
    ids = [payment.order_id for due in taken for payment in due]
    assert len(ids) == len(set(ids)) == 12
    assert await ledger.due(most=4) == [], "each has been looked at, and is not due yet"


async def test_an_expired_reservation_gives_its_stock_back_although_the_acquirer_is_away(
    till: Till, acquirer: Acquirer
) -> None:
    order = await till.buy("tok_redirect")
    assert (order.status, await till.stock("A")) == ("awaiting_payment", 8)
    acquirer.fault(endpoint="*", mode="refuse", for_s=60)
    await till.recover()
    assert await till.stock("A") == 8, "it is waited for"
    await till.recover(late=True)
    assert await till.stock("A") == 10
    found = await till.orders.by_id(till.account_id, order.id)
    assert found is not None
    assert (found.status, found.money) == ("failed", "requires_action")
    acquirer.fault(endpoint="*", latency_s=0, for_s=1)
    found = await until_released(till, order)
    assert found.money == "released"
    assert (await till.buy("cod", "another")).status == "confirmed", "the cart is free again"


async def until_released(till: Till, order: Order) -> Order:
    """The breaker of the acquirer may have opened meanwhile."""
    for _ in range(200):
        await till.recover()
        found = await till.orders.by_id(till.account_id, order.id)
        if found is not None and found.money == "released":
            return found
        await asyncio.sleep(0.1)
    pytest.fail("the money never came back")


async def test_who_cancels_at_the_bank_keeps_the_cart_and_may_pay_otherwise_at_once(
    till: Till, acquirer: Acquirer
) -> None:
    order = await till.buy("tok_redirect")
    cancelled = await till.cancel(order.id)
    assert (cancelled.status, cancelled.money) == ("cancelled", "released")
    assert acquirer.find(order.id)["items"][0]["status"] == "voided"
    assert (await till.stock("A"), till.cart.quantities) == (10, {"A": 2})
    assert (await till.buy("cod", "another")).status == "confirmed"
    assert (await till.stock("A"), till.cart.quantities) == (8, {})


async def test_the_money_is_taken_when_it_is_shipped_and_refunded_when_it_comes_back(
    till: Till, acquirer: Acquirer
) -> None:
    order = await till.buy("tok_ok")
    for status in ("packed", "shipped"):
        await till.orders.move(order.id, Move(to=status, actor="owner"))
    await till.recover()
    assert acquirer.find(order.id)["items"][0]["status"] == "captured"
    with pytest.raises(WrongStatus):
        await till.cancel(order.id)
    await till.orders.move(order.id, Move(to="refunded", actor="owner", note="vỡ"))
    await till.recover()
    (payment,) = acquirer.find(order.id)["items"]
    assert (payment["captured"], payment["refunded"]) == (2000, 2000)
    assert await till.stock("A") == 8, "what came back broken is not for sale"
    found = await till.orders.by_id(till.account_id, order.id)
    assert found is not None
    assert (found.status, found.money) == ("refunded", "refunded")


async def test_a_booking_that_comes_too_late_does_not_undo_a_newer_wish(till: Till) -> None:
    order = await till.buy("tok_ok")
    for status in ("packed", "shipped"):
        await till.orders.move(order.id, Move(to=status, actor="owner"))
    ledger = SqlLedger(database=till.database)
    taking = await ledger.open_of(order.id)
    assert taking is not None
    await till.orders.move(order.id, Move(to="refunded", actor="owner"))
    await ledger.book(taking, Booking(status="captured"))
    open_ = await ledger.open_of(order.id)
    assert open_ is not None
    assert open_.wanted == "back"


async def test_a_cancellation_races_the_packing_and_one_of_them_wins(till: Till) -> None:
    for number in range(5):
        buyer = replace(till, cart=HeapCart({"B": 1}))
        order = await buyer.buy("cod", f"key-{number}")

        async def packed(order: Order = order) -> str:
            return (await till.orders.move(order.id, Move(to="packed", actor="owner"))).status

        both = await asyncio.gather(buyer.cancel(order.id), packed(), return_exceptions=True)
        refused = [each for each in both if isinstance(each, WrongStatus)]
        assert len(refused) == 1, both
    assert await till.stock("B") == 10 - 5 + sum(
        1 for row in await till.database.rows(select(orders.c.status)) if row.status == "cancelled"
    )


async def test_a_parcel_is_shipped_or_cancelled_and_the_log_tells_which(till: Till) -> None:
    """Two of the desk's people cancel it, one ships it and its shopper cancels, all at once."""
    settlement = till.settlement
    move = MoveOrder(orders=settlement.orders, settlement=settlement)
    orders_moved = (
        "SELECT after ->> 'status' FROM audit WHERE subject = :order AND before ->> 'status' = 'packed'"
    )
    for number in range(4):
        order = await replace(till, cart=HeapCart({"A": 1})).buy("tok_ok", f"key-{number}")
        await move(order.id, to="packed", by=deed())
        ways = [move(order.id, to=to, by=deed()) for to in ("shipped", "cancelled", "cancelled")]
        outcomes = await asyncio.gather(*ways, till.cancel(order.id), return_exceptions=True)
        assert {type(each) for each in outcomes} <= {Order, WrongStatus}
        logged = await till.database.rows(text(orders_moved).bindparams(order=f"order {order.id}"))
        ended = await till.orders.by_id(till.account_id, order.id)
        assert ended
        assert [row[0] for row in logged] == [ended.status]
        assert ended.status in {"shipped", "cancelled"}
    await till.recover()
    told = await till.told()
    shipped = told["orders"].count("shipped")
    assert (told["held"], told["stock"]) == ([1000] * shipped, 10 - shipped)


def deed() -> Deed:
    return Deed(account_id=str(uuid4()), address="127.0.0.1", nonce="n" * 22)


async def test_two_prices_that_moved_against_each_other_are_not_what_was_agreed(till: Till) -> None:
    request = OrderRequest(
        account_id=till.account_id,
        cart_id="c",
        quantities={"A": 1, "B": 1},
        expected_total=2000,
        shipping=SHIPPING,
        payment="cod",
        key="k",
        fingerprint="print",
        prices={"A": 900, "B": 1100},
    )
    with pytest.raises(TotalChanged):
        await till.orders.place(request)
    assert (await till.orders.place(replace(request, prices={"A": 1000, "B": 1000}))).total == 2000


@pytest.mark.parametrize(("token", "most"), [("cod", 14), ("tok_ok", 27)])
async def test_a_checkout_has_as_many_statements_for_three_things_as_for_one(
    till: Till, token: str, most: int
) -> None:
    counts = []
    for number, cart in enumerate(({"A": 1}, {"A": 1, "B": 2, "C": 1})):
        buyer = replace(till, cart=HeapCart(dict(cart)))
        with overheard(till.database) as asked:
            await buyer.buy(token, f"key-{number}")
        counts.append(len(asked))
    assert counts[0] == counts[1] <= most
    with overheard(till.database) as asked:
        await till.orders.page(till.account_id, OrderQuery(status="confirmed"))
    assert len(asked) == 2


class overheard:  # noqa: N801 -- reads as a verb where it is used
    """The statements of the block."""

    def __init__(self, database: Database) -> None:
        self._engine = database.engine.sync_engine
        self._asked: list[str] = []

    def _heard(self, _: Any, __: Any, statement: str, *___: Any) -> None:
        self._asked.append(statement)

    def __enter__(self) -> list[str]:
        event.listen(self._engine, "before_cursor_execute", self._heard)
        return self._asked

    def __exit__(self, *_: object) -> None:
        event.remove(self._engine, "before_cursor_execute", self._heard)


async def test_two_tabs_at_the_till_of_an_acquirer_that_fails_leave_nothing(
    database: Database, payments: HttpPayments, acquirer: Acquirer
) -> None:
    till = await new_till(database, payments)
    acquirer.fault(endpoint="POST /v1/payments", mode="partial_body", for_s=60)
    outcomes = await asyncio.gather(*(outcome(till, "tok_ok", f"tab-{tab}") for tab in range(4)))
    assert set(outcomes) <= {"PaymentsUnavailable", "CartOrdered"}
    assert PaymentsUnavailable.__name__ in outcomes
    await till.recover()
    assert await till.told() == {"orders": [], "held": [], "stock": 10, "reserved": 0}
    assert till.cart.quantities == {"A": 2}


async def test_one_order_that_cannot_be_tidied_up_does_not_keep_the_others_from_it(till: Till) -> None:
    waiting = [await replace(till, cart=HeapCart({sku: 1})).buy("tok_redirect", sku) for sku in ("A", "B")]
    async with till.database.engine.begin() as connection:  # the units of the first find no room any more
        await connection.execute(text("UPDATE variants SET stock = 2147483647 WHERE sku = 'A'"))
    await till.recover(late=True)
    found = [await till.orders.by_id(till.account_id, order.id) for order in waiting]
    assert [order.status for order in found if order is not None] == ["awaiting_payment", "failed"]
    assert await till.stock("B") == 10
