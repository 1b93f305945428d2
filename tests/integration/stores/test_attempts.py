"""Guessing is slow, whichever replica is asked; nobody is locked out, and success never counts."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import pytest
import redis

from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from app.shop.errors import TooManyAttempts, Unavailable
from app.stores.attempts import AttemptsConfig, RedisAttempts, network_of
from tests.conftest import free_port, listening, running, wait_until

KEY, CLIENT = "anh@chopho.example", "203.0.113.7"


def replica(url: str, *, account_burst: int = 10, slowed_to_s: int = 2) -> RedisAttempts:
    return RedisAttempts(AttemptsConfig(url=url, account_burst=account_burst, slowed_to_s=slowed_to_s))


async def passes(attempts: RedisAttempts, key: str = KEY, client: str = CLIENT) -> bool:
    try:
        await attempts.check(key, client)
    except TooManyAttempts:
        return False
    return True


async def test_ten_failures_pass_over_all_replicas_then_one_attempt_at_a_time(redis_url: str) -> None:
    replicas = [replica(redis_url) for _ in range(2)]
    for number in range(10):
        assert await passes(replicas[number % 2])
        await replicas[number % 2].failed(KEY, CLIENT)
    slowed = await asyncio.gather(*(passes(replicas[number % 2]) for number in range(20)))
    assert slowed.count(True) == 1
    for one in replicas:
        await one.close()


async def test_the_slow_lane_opens_again(redis_url: str) -> None:
    attempts = replica(redis_url, account_burst=1, slowed_to_s=1)
    await attempts.failed(KEY, CLIENT)
    await attempts.check(KEY, CLIENT)
    with pytest.raises(TooManyAttempts) as refused:
        await attempts.check(KEY, CLIENT)
    assert refused.value.retry_after_s == 1
    await asyncio.sleep(1.1)
    await attempts.check(KEY, CLIENT)
    await attempts.close()


async def test_strangers_do_not_slow_the_owner(redis_url: str) -> None:
    attempts = replica(redis_url)
    for _ in range(40):
        await attempts.failed(KEY, CLIENT)
    assert await passes(attempts, client="198.51.100.1")
    assert await passes(attempts, client="198.51.100.1")
    await attempts.close()


async def test_one_address_over_many_accounts_is_slowed_after_thirty(redis_url: str) -> None:
    attempts = replica(redis_url)
    for number in range(30):
        assert await passes(attempts, key=f"{number}@chopho.example")
        await attempts.failed(f"{number}@chopho.example", CLIENT)
    assert [await passes(attempts, key=f"new{number}@chopho.example") for number in range(3)].count(True) == 1
    await attempts.close()


async def test_a_success_never_counts(redis_url: str) -> None:
    attempts = replica(redis_url)
    assert all([await passes(attempts) for _ in range(100)])
    await attempts.close()


async def test_redis_sees_no_email_and_no_address_and_forgets(redis_url: str) -> None:
    attempts = replica(redis_url, account_burst=1)
    await attempts.failed(KEY, CLIENT)
    await attempts.check(KEY, CLIENT)
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        keys = client.keys("*")
        assert len(keys) == 3
        assert all(key.startswith("chopho:attempts:") for key in keys)
        assert not [key for key in keys if KEY in key or CLIENT in key]
        assert all(0 < client.ttl(key) <= 61 for key in keys)
    await attempts.close()


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("a socket", "a socket"),
    ],
)
def test_whom_an_address_stands_for(client: str, network: str) -> None:
    assert network_of(client) == network


async def test_without_redis_nobody_is_told_wrong(tmp_path: Path) -> None:
    server = RedisServer(program=Programs().find_redis_server(), data=tmp_path / "data", port=free_port())
    attempts = replica(server.url)
    with pytest.raises(Unavailable):
        await attempts.check(KEY, CLIENT)
    for _ in range(2):  # the second time, every pooled connection is a dead one
        with running(server.argv(), tmp_path / "log") as process:
            wait_until(lambda: listening(server.port), what="Redis")
            await attempts.check(KEY, CLIENT)
            process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            outcomes = await asyncio.gather(
                *(attempts.check(KEY, CLIENT) for _ in range(50)), return_exceptions=True
            )
            process.send_signal(signal.SIGCONT)
            assert {type(each) for each in outcomes} == {Unavailable}
            assert time.monotonic() - began < 5  # of a hang without end
            await attempts.check(KEY, CLIENT)
    await attempts.close()
