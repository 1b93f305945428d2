"""The shop's client against the real acquirer: success is never invented, and what is unknown says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from app.clients.payments import HttpPayments, PaymentsConfig
from app.resilience import State, deadline
from app.shop.errors import KeyReused, NotFound, Unavailable
from app.shop.payments import Authorisation, OutcomeUnknown, PaymentNotAllowed, Payments
from tests.conftest import free_port
from tests.integration.payments.conftest import Acquirer, Keys, Start

WANTED = Authorisation(reference="order-1", amount=250_000, token="tok_ok")

Connect = Callable[..., HttpPayments]


@pytest.fixture
async def connect(keys: Keys) -> AsyncIterator[Connect]:
    """Makes clients of an acquirer, or of any URL."""
    made: list[HttpPayments] = []

    def connecting(
        url: str, *, audience: str = "payments", timeout_s: float = 10, pool_size: int = 10
    ) -> HttpPayments:
        config = PaymentsConfig(url=url, timeout=timedelta(seconds=timeout_s), pool_size=pool_size)
        made.append(HttpPayments(config, token=lambda: keys.token(audience=audience)))
        return made[-1]

    yield connecting
    for client in made:
        assert client.slots.snapshot().in_use == 0
        await client.close_connections()


async def test_a_payment_from_the_first_word_to_the_refund(acquirer: Acquirer, connect: Connect) -> None:
    payments: Payments = connect(acquirer.url)
    held = await payments.authorise(WANTED, key="1")
    assert (held.status, held.amount, held.reference) == ("authorised", 250_000, "order-1")
    assert await payments.authorise(WANTED, key="1") == held
    taken = await payments.capture(held.id, key="2", amount=200_000)
    assert (taken.status, taken.captured) == ("captured", 200_000)
    assert (await payments.refund(held.id, key="3")).refunded == 200_000
    with pytest.raises(PaymentNotAllowed) as refused:
        await payments.void(held.id, key="4")
    assert refused.value.code == "payment_captured"
    found = await payments.find("order-1")
    assert [one.refunded for one in found.payments] == [200_000]
    assert not found.in_progress


async def test_what_is_held_is_let_go_by_voiding_or_closing(acquirer: Acquirer, connect: Connect) -> None:
    payments = connect(acquirer.url)
    held = await payments.authorise(WANTED, key="1")
    assert (await payments.void(held.id, key="2")).status == "voided"
    await payments.authorise(WANTED, key="3")
    closed = await payments.close("order-1")
    assert closed.closed
    assert closed.payment is not None
    assert closed.payment.status == "voided"
    with pytest.raises(PaymentNotAllowed) as refused:
        await payments.authorise(WANTED, key="4")
    assert refused.value.code == "reference_closed"


async def test_a_decline_and_a_redirect_are_answers(acquirer: Acquirer, connect: Connect) -> None:
    payments = connect(acquirer.url)
    declined = await payments.authorise(replace(WANTED, token="tok_declined"), key="1")
    assert (declined.status, declined.decline_reason) == ("declined", "card_declined")
    away = replace(WANTED, token="tok_redirect", return_url="http://127.0.0.1/thanh-toan/tro-ve")
    waiting = await payments.authorise(away, key="2")
    assert waiting.status == "requires_action"
    assert waiting.redirect_url
    assert waiting.redirect_url.startswith(f"{acquirer.url}/pay/")


async def test_refusals_are_told_apart(acquirer: Acquirer, connect: Connect) -> None:
    payments = connect(acquirer.url)
    await payments.authorise(WANTED, key="1")
    with pytest.raises(KeyReused):
        await payments.authorise(replace(WANTED, amount=1), key="1")
    with pytest.raises(NotFound):
        await payments.capture("pay_" + "0" * 32, key="2")
    with pytest.raises(PaymentNotAllowed):
        await payments.authorise(WANTED, key="3")


LOST = [
    {"mode": "partial_body"},
    {"mode": "garbage"},
    {"mode": "hang"},
    {"mode": "refuse"},
    {"mode": "slow_body", "body_s": 20},
    {"error_rate": 1, "error_status": 500},
    {"error_rate": 1, "error_status": 502},
    {"latency_s": 5},
]


@pytest.mark.parametrize("fault", LOST, ids=str)
async def test_whatever_loses_the_answer_the_outcome_is_unknown_until_it_is_asked_for(
    acquirers: list[Acquirer], connect: Connect, fault: dict[str, object]
) -> None:
    acquirers[0].fault(endpoint="POST /v1/payments", **fault)
    payments, other = connect(acquirers[0].url, timeout_s=1.5), connect(acquirers[1].url)
    began = time.monotonic()
    with pytest.raises(OutcomeUnknown):
        await payments.authorise(WANTED, key="k")
    assert time.monotonic() - began < 10
    done = fault.get("mode") in {"partial_body", "slow_body"}
    found = await other.find("order-1")
    assert [one.status for one in found.payments] == (["authorised"] if done else [])
    assert (await other.authorise(WANTED, key="k")).status == "authorised"
    assert acquirers[1].ledger()["accounts"]["held"] == WANTED.amount


@pytest.mark.parametrize("fault", [{"mode": "garbage"}, {"mode": "refuse"}, {"error_rate": 1}], ids=str)
async def test_a_question_that_gets_no_answer_moved_nothing(
    acquirers: list[Acquirer], connect: Connect, fault: dict[str, object]
) -> None:
    acquirers[0].fault(**fault)
    with pytest.raises(Unavailable):
        await connect(acquirers[0].url).find("order-1")


async def test_a_crash_after_the_charge_is_unknown_then_found_then_replayed(
    start: Start, connect: Connect
) -> None:
    acquirer = start()
    crashing = replace(WANTED, token="tok_crash")
    with pytest.raises(OutcomeUnknown):
        await connect(acquirer.url).authorise(crashing, key="k")
    assert acquirer.process.wait(timeout=20) == 70
    with pytest.raises(Unavailable):
        await connect(acquirer.url).find("order-1")
    payments = connect(start().url)
    found = await payments.find("order-1")
    assert [one.status for one in found.payments] == ["authorised"]
    assert (await payments.authorise(crashing, key="k")).id == found.payments[0].id


async def test_the_same_request_still_in_progress_is_unknown(acquirer: Acquirer, connect: Connect) -> None:
    payments = connect(acquirer.url)
    slow = replace(WANTED, token="tok_slow")
    first = asyncio.create_task(payments.authorise(slow, key="k"))
    while not (await payments.find("order-1")).in_progress:  # noqa: ASYNC110 -- another process tells
        await asyncio.sleep(0.02)
    with pytest.raises(OutcomeUnknown):
        await payments.authorise(slow, key="k")
    assert (await first).status == "authorised"


async def test_nobody_there_is_nothing_happened_and_soon_not_even_asked(connect: Connect) -> None:
    payments = connect(f"http://127.0.0.1:{free_port()}")
    for number in range(10):
        with pytest.raises(Unavailable):
            await payments.authorise(WANTED, key=str(number))
    assert [guard.breaker.state for guard in payments.guards] == [State.OPEN, State.CLOSED, State.CLOSED]
    with pytest.raises(Unavailable) as refused:
        await payments.authorise(WANTED, key="11")
    assert refused.value.retry_after_s >= 1


async def test_refusals_by_the_acquirer_never_open_a_breaker(acquirer: Acquirer, connect: Connect) -> None:
    payments = connect(acquirer.url)
    for number in range(15):
        with pytest.raises(NotFound):
            await payments.void("pay_" + "0" * 32, key=str(number))
    assert {guard.breaker.state for guard in payments.guards} == {State.CLOSED}


async def test_a_full_compartment_refuses_at_once_and_gives_its_places_back(
    acquirers: list[Acquirer], connect: Connect
) -> None:
    acquirers[0].fault(endpoint="POST /v1/payments", mode="hang")
    payments = connect(acquirers[0].url, pool_size=3)
    hanging = [asyncio.create_task(payments.authorise(WANTED, key=str(number))) for number in range(3)]
    await asyncio.sleep(0.3)
    with pytest.raises(Unavailable):
        await payments.find("order-1")
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    assert (await asyncio.gather(*(payments.find("order-1") for _ in range(3))))[0].payments == []


async def test_after_a_storm_of_cancelled_calls_every_connection_works(
    acquirer: Acquirer, connect: Connect
) -> None:
    payments = connect(acquirer.url, pool_size=5)
    for number in range(60):
        tasks = [asyncio.create_task(payments.find(f"order-{number}")) for _ in range(5)]
        await asyncio.sleep(0.002 * (number % 7))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    found = await asyncio.gather(*(payments.find("order-1") for _ in range(5)))
    assert [one.payments for one in found] == [[]] * 5


async def test_the_deadline_travels_and_a_spent_one_is_not_even_sent(
    acquirer: Acquirer, connect: Connect
) -> None:
    payments = connect(acquirer.url)
    with deadline.budget(0.3), pytest.raises(OutcomeUnknown):
        await payments.authorise(replace(WANTED, token="tok_slow"), key="k")
    with deadline.budget(0), pytest.raises(Unavailable):
        await payments.authorise(WANTED, key="k2")
    await asyncio.sleep(2)  # longer than the bank would have taken
    assert (await payments.find("order-1")).payments == []
    assert acquirer.ledger()["accounts"] == {}


async def test_a_token_for_another_service_moves_nothing(acquirer: Acquirer, connect: Connect) -> None:
    with pytest.raises(Unavailable):
        await connect(acquirer.url, audience="reviews").authorise(WANTED, key="k")
    assert acquirer.find("order-1")["items"] == []
