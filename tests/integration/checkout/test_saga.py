"""A checkout by card, broken off at every step: charged at most once, and either an order or the money."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from app.shop.errors import (
    CartOrdered,
    KeyInProgress,
    KeyReused,
    PaymentDeclined,
    PaymentRefused,
    PaymentsUnavailable,
    ShopError,
)
from tests.integration.checkout.conftest import client_of
from tests.integration.checkout.till import Break, Killed, Till
from tests.integration.payments.conftest import Acquirer, Keys, starter

NOTHING = {"orders": [], "held": [], "stock": 10, "reserved": 0}
ORDERED = {"orders": ["confirmed"], "held": [2000], "stock": 8, "reserved": 0}

SIDES = ("before", "after")
STEPS = ("orders.place", "payments.authorise", "orders.move")
RETRIES = ("never", "at once", "after the recovery", "with another key")
CRASHES = [
    *product(STEPS, SIDES, ("tok_ok",), RETRIES),
    # Without money there is less to lose.
    *product(STEPS, SIDES, ("tok_declined", "tok_redirect"), ("never", "after the recovery")),
]


async def test_an_order_by_card_is_confirmed_with_the_money_held(till: Till) -> None:
    order = await till.buy("tok_ok")
    assert (order.status, order.payment, order.money) == ("confirmed", "card", "authorised")
    assert await till.told() == ORDERED
    assert till.cart.quantities == {}
    assert [(event.before, event.after) for event in await till.orders.history(order.id)] == [
        (None, "placing"),
        ("placing", "confirmed"),
    ]


async def test_payment_on_delivery_asks_no_bank(till: Till) -> None:
    order = await till.buy("cod")
    assert (order.status, order.payment, order.money) == ("confirmed", "cod", None)
    assert await till.told() == {**ORDERED, "held": []}


async def test_the_same_key_is_told_the_same_also_when_the_order_went_on(till: Till) -> None:
    first = await till.buy("tok_ok")
    await till.cancel(first.id)
    again = await till.buy("tok_ok")
    assert (again.id, again.status) == (first.id, "confirmed")
    with pytest.raises(KeyReused):
        await till.buy("cod")


async def test_a_declined_card_leaves_cart_and_stock_and_another_means_may_be_tried(till: Till) -> None:
    for _ in range(2):  # the same key is told the same
        with pytest.raises(PaymentDeclined) as refused:
            await till.buy("tok_declined")
        assert refused.value.reason == "card_declined"
    assert await till.told() == NOTHING
    assert till.cart.quantities == {"A": 2}
    with pytest.raises(KeyReused):
        await till.buy("tok_ok")
    assert (await till.buy("tok_ok", "another")).status == "confirmed"
    assert await till.told() == ORDERED


async def test_a_means_that_no_acquirer_knows_is_refused(till: Till) -> None:
    with pytest.raises(PaymentRefused):
        await till.buy("tok_unheard_of")
    assert await till.told() == NOTHING
    assert (await till.buy("tok_ok")).status == "confirmed", "nothing came of it, so the key is free"


@pytest.mark.parametrize("mode", ["refuse", "garbage", "partial_body"])
async def test_while_the_acquirer_fails_no_order_is_placed_and_nothing_stays_charged(
    till: Till, acquirer: Acquirer, mode: str
) -> None:
    acquirer.fault(endpoint="POST /v1/payments", mode=mode, for_s=60)
    with pytest.raises(PaymentsUnavailable) as refused:
        await till.buy("tok_ok")
    assert refused.value.retry_after_s > 0
    assert till.cart.quantities == {"A": 2}
    await till.recover()
    assert await till.told() == NOTHING
    acquirer.fault(endpoint="POST /v1/payments", latency_s=0, for_s=1)
    assert (await till.buy("tok_ok")).status == "confirmed"
    assert await till.told() == ORDERED


async def test_an_acquirer_that_crashes_after_the_charge_is_no_order_and_no_charge(
    till: Till, till_database_url: str, till_keys: Keys, tmp_path: Path
) -> None:
    """`tok_crash` ends its process after the money is held and before it says so; another one goes on."""
    with starter(till_database_url, till_keys, tmp_path) as start:
        async with client_of(start().url, till_keys) as doomed:
            with pytest.raises(PaymentsUnavailable) as refused:
                await replace(till, payments=doomed).buy("tok_crash")
    assert refused.value.retry_after_s > 0
    assert len((await till.told())["held"]) == 1, "charged, and nobody was told"
    await till.recover()
    assert await till.told() == NOTHING
    assert till.cart.quantities == {"A": 2}
    assert (await till.buy("tok_ok")).status == "confirmed"


@pytest.mark.parametrize(("step", "side", "token", "retry"), CRASHES)
async def test_a_crash_at_any_step_leaves_an_order_or_nothing(
    till: Till, step: str, side: str, token: str, retry: str
) -> None:
    till.point = Break(where=step, side=side)
    with pytest.raises(Killed):
        await till.buy(token)
    if retry == "at once":
        with suppress(ShopError):
            await till.buy(token)
    elif retry == "with another key":
        with suppress(ShopError):
            await till.buy(token, "another")
    await till.recover()
    if retry == "after the recovery":
        with suppress(ShopError):
            await till.buy(token)
        await till.recover()
    told = await till.told()
    if token == "tok_redirect" and told["orders"] == ["awaiting_payment"]:  # the shopper never comes
        assert (told["held"], told["stock"], told["reserved"]) == ([], 8, 1)
        await till.recover(late=True)
        told = await till.told()
        assert told == NOTHING
    assert told in (NOTHING, ORDERED)
    if token == "tok_ok" and retry == "after the recovery":
        assert told == ORDERED
    if token != "tok_ok":
        assert told == NOTHING


async def test_while_a_broken_off_checkout_waits_its_key_is_in_progress_and_its_cart_leads_to_it(
    till: Till,
) -> None:
    till.point = Break(where="payments.authorise", side="after")
    with pytest.raises(Killed):
        await till.buy("tok_ok")
    with pytest.raises(KeyInProgress) as waiting:
        await till.buy("tok_ok")
    with pytest.raises(CartOrdered) as ordered:
        await till.buy("tok_ok", "another")
    assert waiting.value.order_id == ordered.value.order_id
    assert till.cart.quantities == {"A": 2}
    await till.recover()
    order = await till.buy("tok_ok")
    assert (order.id, order.status) == (waiting.value.order_id, "confirmed")
    assert till.cart.quantities == {}


RECOVERING = (
    "ledger.due",
    "payments.find",
    "orders.move",
    "ledger.open_of",
    "payments.close",
    "ledger.book",
)


@pytest.mark.parametrize(("step", "side", "asked"), [*product(RECOVERING, SIDES, SIDES)])
async def test_a_recovery_may_itself_be_broken_off_at_any_step(
    till: Till, step: str, side: str, asked: str
) -> None:
    till.point = Break(where="payments.authorise", side=asked)
    with pytest.raises(Killed):
        await till.buy("tok_ok")
    till.point = Break(where=step, side=side)
    with suppress(Killed):
        await till.recover()
    till.point = Break()
    await till.recover()
    assert await till.told() == (ORDERED if asked == "after" else NOTHING)


CANCELLING = ("orders.move", "ledger.open_of", "payments.close", "ledger.book")


@pytest.mark.parametrize(("step", "side"), [*product(CANCELLING, SIDES)])
async def test_a_cancellation_may_be_broken_off_at_any_step(till: Till, step: str, side: str) -> None:
    order = await till.buy("tok_ok")
    till.point = Break(where=step, side=side)
    with pytest.raises(Killed):
        await till.cancel(order.id)
    await till.recover()
    told = await till.told()
    if (step, side) == ("orders.move", "before"):
        assert told == ORDERED, "it never began"
    else:
        assert told == {**ORDERED, "orders": ["cancelled"], "held": [], "stock": 10}
