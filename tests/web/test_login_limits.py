"""Whoever guesses passwords is slowed by the address they come from, whatever they say of it."""

from __future__ import annotations

import pytest

from tests.web.conftest import World

PEER = "203.0.113.7"
"""What the balancer saw, and appends."""

LIES = {
    "one line": lambda number: [("x-forwarded-for", f"10.9.8.{number}, {PEER}")],
    "two lines": lambda number: [("x-forwarded-for", f"10.9.8.{number}"), ("x-forwarded-for", PEER)],
    "the balancer's own address": lambda number: [("x-forwarded-for", f"127.0.0.1, 10.9.8.{number}, {PEER}")],
    "Forwarded": lambda number: [
        ("forwarded", f"for=10.9.8.{number}"),
        ("x-real-ip", f"10.9.8.{number}"),
        ("x-forwarded-for", PEER),
    ],
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_fifty_guesses_from_one_address_are_slowed_whatever_it_says_of_itself(
    world: World, lie: object
) -> None:
    assert callable(lie)
    async with world.client() as client:
        statuses = [
            (
                await client.post(
                    "/api/v1/session",
                    json={"email": f"n{number}@khach.example", "password": "sai-mat-khau"},
                    headers=lie(number),
                )
            ).status_code
            for number in range(50)
        ]
        honest = await client.post(
            "/api/v1/session",
            json={"email": "ai@khach.example", "password": "sai-mat-khau"},
            headers=[("x-forwarded-for", "203.0.113.8")],
        )
    assert statuses[:30] == [401] * 30
    assert statuses.count(429) >= 15
    assert honest.status_code == 401, "another address has chances of its own"
