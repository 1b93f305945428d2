"""Copies: read back as they were kept, never past their limit, and a miss where they cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
import redis
from pydantic import TypeAdapter

from app.resilience import State
from app.shop.inventory import Stock
from app.shop.reviews import Review, ReviewsPage
from app.stores.copies import Cache, CacheConfig, CachedCopies
from tests.conftest import free_port, wait_until
from tests.integration.downstream import downstream

T = TypeVar("T")

NOW = datetime(2026, 1, 2, tzinfo=UTC)
REVIEW = Review(
    id="1",
    product="phin",
    author_name="Ánh 🧧",
    rating=4,
    text="Thơm.\nĐậm.",
    status="shown",
    written_at=NOW,
    edited_at=None,
)
PAGE = ReviewsPage(items=[REVIEW], total=1, page=1, page_size=10, average=4.0)
STOCK = Stock(units={"PHIN-S": 7}, as_of=NOW)


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def copies(cache: Cache, clock: Clock, kind: type[T]) -> CachedCopies[T]:
    return CachedCopies(cache, "x", TypeAdapter(kind), limit=timedelta(minutes=15), clock=clock)


@asynccontextmanager
async def a_cache(url: str, **config: Any) -> AsyncIterator[Cache]:
    """Closed with the block, which waits for what is on its way."""
    cache = Cache(CacheConfig(url=url, timeout=timedelta(seconds=5), **config))
    try:
        yield cache
    finally:
        await cache.close()


async def keep(url: str, clock: Clock, value: Any) -> None:
    async with a_cache(url) as cache:
        copies(cache, clock, type(value)).keep("phin", value)


@pytest.mark.parametrize("value", [PAGE, STOCK], ids=["reviews", "stock"])
async def test_what_is_kept_is_read_back_with_its_age(redis_url: str, value: Any) -> None:
    clock = Clock()
    await keep(redis_url, clock, value)
    clock.now += 60
    async with a_cache(redis_url) as cache:
        kept = copies(cache, clock, type(value))
        copy = await kept.get("phin")
        assert copy is not None
        assert (copy.value, round(copy.age_s)) == (value, 60)
        assert await kept.get("other") is None


async def test_a_copy_past_its_limit_is_not_there_and_redis_forgets_it_too(redis_url: str) -> None:
    clock = Clock()
    await keep(redis_url, clock, STOCK)
    async with a_cache(redis_url) as cache:
        clock.now += 15 * 60 + 1
        assert await copies(cache, clock, Stock).get("phin") is None
    with redis.Redis.from_url(redis_url) as direct:
        assert 0 < direct.ttl("chopho:copies:x:phin") <= 15 * 60


@pytest.mark.parametrize(
    "kept",
    [
        *(b"", b"no time\n{}", b"1800000000\n{", b'1800000000\n{"units": 1}', b"\xff", b"-"),
        *(
            b'%b\n{"units": {}, "as_of": "2026-01-02T00:00:00Z"}' % odd
            for odd in (b"inf", b"-inf", b"nan", b"1e30")
        ),
    ],
)
async def test_what_cannot_be_read_is_not_there(redis_url: str, kept: bytes) -> None:
    with redis.Redis.from_url(redis_url) as direct:
        direct.set("chopho:copies:x:phin", kept)
    async with a_cache(redis_url) as cache:
        assert await copies(cache, Clock(), Stock).get("phin") is None


@pytest.mark.parametrize(
    ("passed_s", "age_s"),
    [(-3600, None), (-5.5, None), (-4.5, 0), (0, 0), (899.9, 899.9), (900, 900), (900.1, None)],
    ids=str,
)
async def test_no_copy_is_shown_whose_age_is_past_the_limit_or_unknown(
    redis_url: str, passed_s: float, age_s: float | None
) -> None:
    clock = Clock()
    await keep(redis_url, clock, STOCK)
    clock.now += passed_s
    async with a_cache(redis_url) as cache:
        copy = await copies(cache, clock, Stock).get("phin")
    assert (copy and round(copy.age_s, 1)) == age_s


async def test_a_clock_that_was_set_back_keeps_no_new_copy_out(redis_url: str) -> None:
    clock = Clock()
    with redis.Redis.from_url(redis_url) as direct:
        async with a_cache(redis_url) as cache:
            kept = copies(cache, clock, Stock)
            kept.keep("phin", STOCK)
            await asyncio.to_thread(
                wait_until, lambda: direct.exists("chopho:copies:x:phin") == 1, what="a copy"
            )
            clock.now -= 3600
            kept.keep("phin", STOCK)
        assert direct.get("chopho:copies:x:phin").startswith(b"1799996400.000\n")


async def test_an_answer_from_before_the_drop_is_not_kept_after_it_at_any_replica(redis_url: str) -> None:
    clock = Clock()
    await keep(redis_url, clock, PAGE)
    async with a_cache(redis_url) as dropping:
        await copies(dropping, clock, ReviewsPage).drop("phin")
    await keep(redis_url, clock, PAGE)  # another process, whose answer was under way
    async with a_cache(redis_url) as cache:
        assert await copies(cache, clock, ReviewsPage).get("phin") is None
    with redis.Redis.from_url(redis_url) as direct:
        assert 0 < direct.pttl("chopho:copies:x:phin") <= 5000  # then copies are kept again


async def test_a_key_is_kept_anew_only_so_often_and_at_once_after_a_drop_is_over(redis_url: str) -> None:
    clock = Clock()
    with redis.Redis.from_url(redis_url) as direct:
        async with a_cache(redis_url) as cache:
            kept = copies(cache, clock, Stock)
            for passed in (0, 1, 3.9):
                clock.now = 1_800_000_000 + passed
                kept.keep("phin", STOCK)
        assert direct.get("chopho:copies:x:phin").startswith(b"1800000000.000\n")
        async with a_cache(redis_url) as cache:
            kept = copies(cache, clock, Stock)
            kept.keep("phin", STOCK)
            await kept.drop("phin")
            direct.delete("chopho:copies:x:phin")  # as its time does
            kept.keep("phin", STOCK)
        assert direct.get("chopho:copies:x:phin").startswith(b"1800000003.900\n")


async def test_a_cache_that_is_not_there_has_nothing_and_raises_nothing() -> None:
    async with a_cache(f"redis://127.0.0.1:{free_port()}") as cache:
        kept = copies(cache, Clock(), Stock)
        for _ in range(20):
            kept.keep("phin", STOCK)
            assert await kept.get("phin") is None
            await kept.drop("phin")
        assert cache.reading.breaker.state is State.OPEN


async def test_a_hung_cache_is_a_miss_after_its_own_deadline_and_holds_no_slot() -> None:
    async with downstream() as hung:
        hung.hang()
        cache = Cache(CacheConfig(url=hung.url.replace("http", "redis"), timeout=timedelta(milliseconds=50)))
        kept = copies(cache, Clock(), Stock)
        assert await kept.get("phin") is None
        assert cache.slots.snapshot().in_use == 0
        await cache.close()
