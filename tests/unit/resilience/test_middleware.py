from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from app.resilience import BudgetSpent, DeadlineExceeded, DeadlineMiddleware, deadline
from app.resilience.middleware import App, Message, Receive, Scope, Send


async def tell_left(_scope: Scope, _receive: Receive, send: Send) -> None:
    body = str(deadline.left_s()).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def hang(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await asyncio.Event().wait()


async def ask(app: App, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        return await client.get("/", headers=headers)


def sent(milliseconds: str) -> dict[str, str]:
    return {deadline.HEADER: milliseconds}


async def test_the_callers_deadline_is_the_budget_here() -> None:
    answer = await ask(DeadlineMiddleware(tell_left), **sent("5000"))
    assert 4 < float(answer.text) <= 5


@pytest.mark.parametrize("headers", [{}, sent("soon"), sent("-5"), sent("99999999")])
async def test_no_deadline_or_a_wild_one_means_the_limit(headers: dict[str, str]) -> None:
    answer = await ask(DeadlineMiddleware(tell_left, most_s=7), **headers)
    assert 6 < float(answer.text) <= 7


async def test_strangers_set_no_deadline() -> None:
    answer = await ask(DeadlineMiddleware(tell_left, most_s=7, trusted=False), **sent("1"))
    assert 6 < float(answer.text) <= 7


@pytest.mark.parametrize("milliseconds", ["0", "10"])
async def test_a_request_that_nobody_waits_for_is_answered_504_and_stops(milliseconds: str) -> None:
    answer = await ask(DeadlineMiddleware(hang), **sent(milliseconds))
    assert answer.status_code == 504
    assert answer.json()["code"] == "deadline_exceeded"
    assert answer.headers["content-type"] == "application/problem+json"


async def test_half_an_answer_is_not_completed_with_another() -> None:
    async def half(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {"type": "http", "headers": [(deadline.HEADER.lower().encode(), b"10")]}
    with pytest.raises(DeadlineExceeded):
        await DeadlineMiddleware(half)(scope, receive, send)
    assert [message["type"] for message in messages] == ["http.response.start"]


async def test_a_call_below_that_has_nothing_left_is_a_504_too() -> None:
    async def spends(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise BudgetSpent(allowed_s=0)

    assert (await ask(DeadlineMiddleware(spends))).status_code == 504


async def test_what_is_not_http_passes() -> None:
    seen: list[str] = []

    async def lifespan(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])
        assert deadline.left_s() is None

    async def nothing() -> Message:
        return {}

    async def drop(message: Message) -> None:
        raise AssertionError(message)

    await DeadlineMiddleware(lifespan)({"type": "lifespan"}, nothing, drop)
    assert seen == ["lifespan"]
