"""A pool of connections keeps its books whatever becomes of its callers."""

from __future__ import annotations

import asyncio
import random

import pytest

from app.clients.http import Connections, HttpError, NotSent
from app.observability.compartments import row
from app.observability.sources import http_pool
from tests.conftest import free_port
from tests.integration.downstream import downstream

POOL = 5


async def ask(connections: Connections) -> bytes:
    return (await connections.send("GET", "/", headers={})).body


async def test_short_deadlines_and_slow_connections_with_contention_do_not_poison_the_pool() -> None:
    """50 callers on 5 connections that close after each answer: one client library stays full for ever."""
    dice = random.Random(7)
    async with downstream() as stub, Connections(stub.url, pool_size=POOL) as connections:
        stub.answer(200, b"done", after_s=0.01, closes=True)
        left = 1500

        async def caller() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                try:
                    await asyncio.wait_for(ask(connections), dice.random() * 0.03)
                except TimeoutError:
                    await asyncio.sleep(0)

        await asyncio.gather(*(caller() for _ in range(50)))
        assert (connections.places.in_use, connections.places.waiting) == (0, 0)
        assert await asyncio.gather(*(ask(connections) for _ in range(10))) == [b"done"] * 10


async def test_a_full_pool_shows_who_waits_while_nothing_fails() -> None:
    async with downstream() as stub, Connections(stub.url, pool_size=POOL) as connections:
        compartment = http_pool("shared", connections, shared_by=["a", "b"], dies="b")
        await asyncio.gather(*(ask(connections) for _ in range(POOL)))
        stub.answer(200, b"done", after_s=0.5)
        slow = [asyncio.create_task(ask(connections)) for _ in range(3 * POOL)]
        while stub.requests < 2 * POOL:  # noqa: ASYNC110 -- the stub tells nobody, so we look
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        full = row(compartment, compartment.usage())
        assert await asyncio.gather(*slow) == [b"done"] * (3 * POOL)
        idle = row(compartment, compartment.usage())
    assert (full["in_use"], full["size"], full["waiting"]) == (POOL, POOL, 2 * POOL)
    assert (full["predicted_wait_s"] or 0) >= 3 * 0.2  # three rounds of what was seen so far
    assert (idle["in_use"], idle["waiting"], idle["predicted_wait_s"]) == (0, 0, 0)


async def test_connections_that_nobody_accepts_give_their_places_back() -> None:
    async with Connections(f"http://127.0.0.1:{free_port()}", pool_size=POOL) as connections:
        for _ in range(3):
            with pytest.raises(NotSent):
                await ask(connections)
        assert connections.places.in_use == 0


async def test_connections_that_break_give_their_places_back() -> None:
    async with downstream() as stub, Connections(stub.url, pool_size=POOL) as connections:
        stub.hang()
        calls = [asyncio.create_task(ask(connections)) for _ in range(POOL)]
        while stub.requests < POOL:  # noqa: ASYNC110 -- the stub tells nobody, so we look
            await asyncio.sleep(0.01)
        assert connections.places.in_use == POOL
        await stub.stop()
        for call in calls:
            with pytest.raises(HttpError):
                await call
        assert connections.places.in_use == 0
