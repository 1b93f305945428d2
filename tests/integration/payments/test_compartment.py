"""The shop's way to the acquirer, through slots, breaker, deadline and a pool of real connections.

Whatever happened before, everything comes back: slots, probes and connections at their numbers.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from app.clients.payments import HttpPayments, PaymentsConfig
from app.resilience import BreakerConfig, State
from app.shop.errors import Unavailable
from tests.integration.downstream import Downstream, downstream
from tests.integration.payments.conftest import Acquirer, Keys

POOL: Final = 10
NOTHING: Final = b'{"items": [], "in_progress": false}'
QUICK: Final = BreakerConfig(
    minimum_number_of_calls=10,
    sliding_window_size=20,
    slow_call_duration_threshold_s=0.4,
    wait_duration_in_open_state_s=0.3,
    longest_wait_in_open_state_s=0.6,
    permitted_number_of_calls_in_half_open_state=3,
    max_wait_duration_in_half_open_state_s=5,
)
"""As the shop's own, in less time."""


@asynccontextmanager
async def client_of(
    url: str, keys: Keys, *, timeout_s: float = 2, pool_size: int = POOL, breaker: BreakerConfig = QUICK
) -> AsyncIterator[HttpPayments]:
    """A client that leaves nothing behind."""
    config = PaymentsConfig(
        url=url, pool_size=pool_size, timeout=timedelta(seconds=timeout_s), breaker=breaker
    )
    payments = HttpPayments(config, token=keys.token)
    try:
        yield payments
        assert payments.slots.snapshot().in_use == 0
        assert (payments.connections.places.in_use, payments.connections.places.waiting) == (0, 0)
    finally:
        await payments.close_connections()


def breaker_of_questions(payments: HttpPayments) -> State:
    return payments.guards[2].breaker.state


async def until_closed(payments: HttpPayments) -> None:
    """Ask, as shoppers do, until the breaker has seen enough good answers."""
    async with asyncio.timeout(30):
        while breaker_of_questions(payments) is not State.CLOSED:
            await asyncio.gather(*(payments.find("order") for _ in range(3)), return_exceptions=True)
            await asyncio.sleep(0.05)


async def ten_normal(payments: HttpPayments) -> int:
    """How many of ten calls at once succeed; each has the client's two seconds."""
    found = await asyncio.gather(*(payments.find("order") for _ in range(10)), return_exceptions=True)
    return sum(not isinstance(one, BaseException) for one in found)


async def test_after_six_seconds_of_slow_answers_ten_of_ten_calls_succeed(
    acquirers: list[Acquirer], keys: Keys
) -> None:
    """60 callers on a pool of 10 who each have half a second, while the acquirer takes three."""
    acquirers[0].fault(latency_s=3, for_s=6)
    async with client_of(acquirers[0].url, keys, timeout_s=0.5) as payments:
        end, ended = time.monotonic() + 6, Counter[str]()

        async def caller() -> None:
            while time.monotonic() < end:
                try:
                    await payments.find("order")
                except Unavailable:
                    ended["refused or late"] += 1
                await asyncio.sleep(0.02)

        await asyncio.gather(*(caller() for _ in range(60)))
        assert set(ended) == {"refused or late"}
        assert payments.guards[2].breaker.snapshot().calls["failed"] >= 10  # slow is failing: it had opened
        await until_closed(payments)
        assert await ten_normal(payments) == 10


async def test_after_four_thousand_calls_cancelled_at_random_ten_of_ten_succeed_and_it_never_opened(
    keys: Keys,
) -> None:
    dice = random.Random(5)
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        stub.answer(200, NOTHING, after_s=0.004)
        cancelled = 0

        async def caller() -> None:
            nonlocal cancelled
            while cancelled < 4000:
                asking = asyncio.create_task(payments.find("order"))
                await asyncio.wait({asking}, timeout=dice.random() * 0.012)
                cancelled += asking.cancel()
                await asyncio.wait({asking})

        await asyncio.gather(*(caller() for _ in range(POOL)))
        snapshot = payments.guards[2].breaker.snapshot()
        assert (snapshot.state, snapshot.calls["failed"]) == (State.CLOSED, 0)
        assert snapshot.calls["ignored"] > 3000
        assert snapshot.calls["successful"] > 0
        assert await ten_normal(payments) == 10


async def opened(payments: HttpPayments, stub: Downstream) -> None:
    """Let the stub hang until the breaker has opened."""
    stub.hang()
    while breaker_of_questions(payments) is not State.OPEN:
        await asyncio.gather(*(payments.find("order") for _ in range(10)), return_exceptions=True)


async def half_open(payments: HttpPayments) -> None:
    breaker = payments.guards[2].breaker
    async with asyncio.timeout(20):
        while breaker.state is not State.HALF_OPEN:  # noqa: ASYNC110 -- time brings it about, and tells nobody
            await asyncio.sleep(0.01)


async def test_of_two_hundred_calls_at_the_half_open_moment_three_reach_the_service(keys: Keys) -> None:
    async with (
        downstream() as stub,
        client_of(stub.url, keys, timeout_s=0.5, pool_size=200) as payments,
    ):
        await opened(payments, stub)
        await half_open(payments)
        before = stub.requests
        refused = await asyncio.gather(*(payments.find("order") for _ in range(200)), return_exceptions=True)
        assert stub.requests - before == 3
        assert {type(one) for one in refused} == {Unavailable}
        assert breaker_of_questions(payments) is State.OPEN
        stub.answer(200, NOTHING)
        await until_closed(payments)
        assert await ten_normal(payments) == 10


async def test_probes_that_are_cancelled_give_their_places_back(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys, timeout_s=0.5) as payments:
        await opened(payments, stub)
        await half_open(payments)
        probes = [asyncio.create_task(payments.find("order")) for _ in range(3)]
        before = stub.requests
        while stub.requests < before + 3:  # noqa: ASYNC110 -- the stub tells nobody, so we look
            await asyncio.sleep(0.01)
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)
        assert breaker_of_questions(payments) is State.HALF_OPEN
        stub.answer(200, NOTHING)
        await asyncio.gather(*(payments.find("order") for _ in range(3)))
        assert breaker_of_questions(payments) is State.CLOSED


async def test_refusals_of_what_one_user_asks_never_open_it_for_the_others(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        for status in (404, 422):
            stub.answer(status, b'{"code": "invalid", "detail": "no"}')
            await asyncio.gather(*(payments.find("order") for _ in range(POOL)), return_exceptions=True)
        assert stub.requests == 2 * POOL
        assert breaker_of_questions(payments) is State.CLOSED


async def test_refusals_do_not_hide_the_failures_between_them(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        for number in range(40):
            stub.answer(500 if number % 2 else 404, b'{"code": "payment_not_found", "detail": "no"}')
            await asyncio.gather(payments.find("order"), return_exceptions=True)
        assert breaker_of_questions(payments) is State.OPEN
        assert stub.requests < 40


async def test_overload_that_the_acquirer_tells_of_is_not_booked_as_its_failure(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        stub.answer(429, b"{}")
        for _ in range(3):
            await asyncio.gather(*(payments.find("order") for _ in range(POOL)), return_exceptions=True)
        snapshot = payments.guards[2].breaker.snapshot()
        assert (snapshot.state, snapshot.calls["ignored"]) == (State.CLOSED, 3 * POOL)


async def test_callers_who_hang_up_on_a_slow_but_healthy_service_never_open_it(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        stub.answer(200, NOTHING, after_s=1)
        for _ in range(10):
            calls = [asyncio.create_task(payments.find("order")) for _ in range(POOL)]
            await asyncio.sleep(0.1)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        snapshot = payments.guards[2].breaker.snapshot()
        assert (snapshot.state, snapshot.calls["ignored"]) == (State.CLOSED, 100)


async def test_answers_just_within_the_deadline_open_it_although_all_succeed(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys, timeout_s=5) as payments:
        stub.answer(200, NOTHING, after_s=0.6)
        found = await asyncio.gather(*(payments.find("order") for _ in range(POOL)))
        assert [one.payments for one in found] == [[]] * POOL
        assert breaker_of_questions(payments) is State.OPEN


async def test_a_probe_that_gets_a_refusal_reaches_a_verdict(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys, timeout_s=0.5) as payments:
        await opened(payments, stub)
        await half_open(payments)
        stub.answer(404, b'{"code": "payment_not_found", "detail": "no"}')
        await asyncio.gather(*(payments.find("order") for _ in range(3)), return_exceptions=True)
        assert breaker_of_questions(payments) is State.CLOSED


async def test_a_slow_success_from_before_the_opening_does_not_close_it(keys: Keys) -> None:
    async with downstream() as stub, client_of(stub.url, keys) as payments:
        stub.answer(200, NOTHING, after_s=0.3)
        slow = asyncio.create_task(payments.find("order"))
        while not stub.requests:  # noqa: ASYNC110 -- the stub tells nobody, so we look
            await asyncio.sleep(0.01)
        stub.answer(500, b"{}")
        for _ in range(10):
            await asyncio.gather(payments.find("order"), return_exceptions=True)
        state = breaker_of_questions(payments)
        assert (await slow).payments == []
        assert state is not State.CLOSED
        assert breaker_of_questions(payments) is not State.CLOSED
