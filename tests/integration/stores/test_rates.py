"""What one address may ask, whichever replica it asks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
import redis

from app.shop.errors import Unavailable
from app.stores.rates import RatesConfig, RedisRates
from app.stores.settled_rate import RateConfig
from tests.conftest import free_port

CLIENT = "203.0.113.7"


def config(url: str) -> RatesConfig:
    return RatesConfig(url=url, registrations=3, gateway=RateConfig(limit=40, window_s=3600))


async def test_replicas_count_registrations_together_and_say_when_the_next_may(redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        replicas = [RedisRates(config(redis_url)) for _ in range(2)]
        for one in replicas:
            stack.push_async_callback(one.close)
        waits = [await replicas[number % 2].registration_wait_s(CLIENT) for number in range(4)]
        assert waits[:3] == [0, 0, 0]
        assert 0 < waits[3] <= 600
        assert await replicas[0].registration_wait_s("203.0.113.8") == 0


async def test_an_ipv6_caller_is_its_network(redis_url: str) -> None:
    rates = RedisRates(config(redis_url))
    waits = [await rates.registration_wait_s(f"2001:db8:0:1::{number}") for number in range(4)]
    assert waits[:3] == [0, 0, 0]
    assert waits[3] > 0
    assert await rates.registration_wait_s("2001:db8:0:2::1") == 0
    assert any(rates.gateway_wait_s(f"2001:db8:0:1::{number:x}") for number in range(1000))
    assert rates.gateway_wait_s("2001:db8:0:2::1") == 0
    await rates.close()


async def test_replicas_count_calls_of_the_gateway_together(redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        replicas = [RedisRates(config(redis_url)) for _ in range(2)]
        for one in replicas:
            stack.push_async_callback(one.close)
            running = asyncio.create_task(one.run())
            stack.callback(running.cancel)
        assert all(replicas[0].gateway_wait_s(CLIENT) == 0 for _ in range(40))
        async with asyncio.timeout(20):
            while replicas[1].gateway_wait_s(CLIENT) == 0:  # noqa: ASYNC110 -- nobody tells, so we look
                await asyncio.sleep(0.1)


async def test_redis_sees_no_address_and_forgets_them(redis_url: str) -> None:
    rates = RedisRates(config(redis_url))
    await rates.registration_wait_s(CLIENT)
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        keys = list(client.scan_iter())
        assert keys
        assert not any(CLIENT in key for key in keys)
        assert all(client.ttl(key) > 0 for key in keys)
    await rates.close()


async def test_without_redis_registration_is_closed_and_the_gateway_open() -> None:
    rates = RedisRates(config(f"redis://127.0.0.1:{free_port()}/0"))
    with pytest.raises(Unavailable):
        await rates.registration_wait_s(CLIENT)
    assert sum(rates.gateway_wait_s(CLIENT) == 0 for _ in range(50)) == 40
    await rates.close()
