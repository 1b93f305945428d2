"""An answer is believed only when it can be read and belongs to the question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.clients.http import Answer, Lost
from app.clients.payments_answers import PaymentTold, read
from app.resilience import Breaker, BreakerConfig, State
from app.shop.errors import Unavailable
from app.shop.payments import PaymentNotAllowed

TOLD: dict[str, Any] = {
    "id": "pay_" + "a" * 32,
    "merchant_reference": "order-1",
    "status": "authorised",
    "amount": 10,
    "currency": "VND",
    "captured": 0,
    "refunded": 0,
    "created_at": "2026-01-01T00:00:00+00:00",
}


async def believed(status: int, body: bytes, breaker: Breaker | None = None) -> PaymentTold:
    async with (breaker or Breaker("payments")).call() as call:
        answer = Answer(status=status, headers={}, body=body)
        return read(call, answer, PaymentTold, lambda told: told.merchant_reference == "order-1")


async def test_a_whole_answer_to_our_question_is_believed() -> None:
    assert (await believed(201, json.dumps(TOLD).encode())).payment().amount == 10


@pytest.mark.parametrize(
    "change",
    [
        {"merchant_reference": "order-2"},
        {"amount": 10.5},
        {"amount": "10"},
        {"amount": None},
        {"currency": "USD"},
        {"status": "great"},
        {"id": "../../admin"},
        {"captured": -1},
        {"created_at": "yesterday"},
    ],
)
async def test_an_answer_that_cannot_be_ours_is_no_answer(change: dict[str, object]) -> None:
    with pytest.raises(Lost):
        await believed(201, json.dumps({**TOLD, **change}).encode())


@pytest.mark.parametrize("status", [100, 202, 204, 301, 302, 304, 500, 502, 503, 504])
async def test_no_other_status_is_a_success_and_each_counts_as_a_failure(status: int) -> None:
    breaker = Breaker("payments", BreakerConfig(minimum_number_of_calls=1))
    with pytest.raises(Lost):
        await believed(status, json.dumps(TOLD).encode(), breaker)
    assert breaker.state is State.OPEN


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"detail": "no code"}'])
async def test_a_refusal_without_a_reason_tells_nothing(body: bytes) -> None:
    with pytest.raises(Lost):
        await believed(409, body)


async def test_a_refusal_with_a_reason_never_opens_a_breaker() -> None:
    breaker = Breaker("payments", BreakerConfig(minimum_number_of_calls=1))
    with pytest.raises(PaymentNotAllowed):
        await believed(409, b'{"code": "payment_voided"}', breaker)
    for status in (401, 403, 413, 429):
        with pytest.raises(Unavailable):
            await believed(status, b"", breaker)
    assert breaker.state is State.CLOSED
