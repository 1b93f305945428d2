"""What a shopper gets when a dependency fails: every row of the table, in every way a dependency can fail."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, Final

import httpx
import psutil
import pytest

from app.shop.degradation import TABLE
from tests.conftest import wait_until
from tests.integration.services.conftest import World
from tests.integration.services.processes import Service, person
from tests.integration.services.shop import Shop

FAULTS: Final[dict[str, dict[str, object]]] = {
    "refuse": {"mode": "refuse"},
    "hang": {"mode": "hang"},
    "500": {"error_rate": 1},
    "slow": {"mode": "slow_body", "body_s": 300},
    "garbage": {"mode": "garbage"},
    "partial": {"mode": "partial_body"},
}
HELPFUL: Final = ("reviews", "recommendations", "inventory")
CELLS: Final = [
    (dependency, fault, copy)
    for dependency, fault in product(HELPFUL, FAULTS)
    for copy in (("kept", "none") if TABLE[dependency].copy_limit else ("none",))
] + [
    (dependency, fault, "past its limit")
    for dependency, fault in product(("reviews", "inventory"), ("refuse", "500"))
]
MISSING: Final = {
    "reviews": "Lúc này chưa xem được đánh giá",
    "recommendations": "Lúc này chưa có gợi ý mua cùng",
    "inventory": "Chưa xem được số tồn mới nhất",
}


@pytest.fixture
def slug(world: World, shop: Shop) -> str:
    """A product with a review and with something beside it, all shown."""
    found: str = world.rows("SELECT slug FROM products ORDER BY id LIMIT 1")[0][0]
    path = f"/v1/products/{found}/reviews/mine"
    assert world.reviews.call("PUT", path, {"rating": 4}, by=person("Ánh")).status_code == 200
    wait_until(lambda: bool(shop.whole(found)["recommendations"]), what="recommendations")
    return found


@contextmanager
def broken(service: Service, fault: str, endpoint: str = "/v1/*") -> Iterator[None]:
    """The fault is on from before the block until after it, and has not ended by itself meanwhile."""
    service.faults.turn_on({"endpoint": endpoint, "for_s": 600, **FAULTS[fault]})
    try:
        yield
        assert service.faults.on(), "the answer came only after the fault"
    finally:
        service.faults.turn_off()


@pytest.mark.parametrize(("dependency", "fault", "copy"), CELLS, ids=str)
def test_a_page_comes_without_what_a_helpful_service_cannot_say(
    world: World, shop: Shop, slug: str, dependency: str, fault: str, copy: str
) -> None:
    before = shop.copied(slug)
    if copy == "none":
        shop.drop_copies()
    else:
        limit = TABLE[dependency].copy_limit
        assert limit is not None
        shop.age_copy(dependency, slug, limit.total_seconds() + 1 if copy == "past its limit" else 60)
    with broken(getattr(world, dependency), fault):
        answer = shop.product(slug)
    assert answer.status_code == 200
    assert answer.headers["x-degraded"] == dependency
    told = answer.json()
    assert told["degraded"] == [dependency]
    expect(told, before, dependency, is_copied=copy == "kept")


def expect(told: dict[str, Any], before: dict[str, Any], dependency: str, *, is_copied: bool) -> None:
    """The part is the copy with its age, or nothing; the other parts are there."""
    if dependency == "recommendations":
        assert told["recommendations"] == []
    else:
        assert told["recommendations"] == before["recommendations"]
    reviews, stock = told["reviews"], told["stock"]
    if dependency == "reviews" and not is_copied:
        assert reviews is None
    else:
        assert reviews["items"] == before["reviews"]["items"]
        assert (reviews["age_s"] is not None) == (dependency == "reviews")
    if dependency == "inventory" and not is_copied:
        assert stock is None
    else:
        assert (stock["age_s"] is not None) == (dependency == "inventory")
    if is_copied:
        assert (reviews if dependency == "reviews" else stock)["age_s"] >= 60
    assert [variant["stock"] for variant in told["variants"]] == [
        variant["stock"] for variant in before["variants"]
    ]


@pytest.mark.parametrize("dependency", HELPFUL)
def test_the_page_says_in_a_sentence_what_it_lacks(
    world: World, shop: Shop, slug: str, dependency: str
) -> None:
    shop.copied(slug)
    shop.drop_copies()
    with broken(getattr(world, dependency), "refuse"):
        page = shop.client.get(f"/san-pham/{slug}")
    assert (page.status_code, page.headers["x-degraded"]) == (200, dependency)
    assert {name for name, words in MISSING.items() if words in page.text} == {dependency}
    assert "Thêm vào giỏ" in page.text


def test_a_page_with_copies_tells_their_age(world: World, shop: Shop, slug: str) -> None:
    shop.copied(slug)
    for dependency in ("reviews", "inventory"):
        shop.age_copy(dependency, slug, 180)
    with broken(world.reviews, "refuse"), broken(world.inventory, "500"):
        page = shop.client.get(f"/san-pham/{slug}")
    assert page.headers["x-degraded"] == "reviews, inventory"
    assert "Đánh giá lưu cách đây 3 phút" in page.text
    assert "chưa xem được số mới hơn" in page.text
    assert "(1 đánh giá)" in page.text


@pytest.mark.parametrize("dependency", HELPFUL)
async def test_thirty_at_once_get_their_page_while_a_helpful_service_hangs_and_it_heals(
    world: World, shop: Shop, slug: str, dependency: str
) -> None:
    shop.copied(slug)
    shop.drop_copies()
    with broken(getattr(world, dependency), "hang"):
        async with httpx.AsyncClient(base_url=shop.url, timeout=120) as client:
            pages = await asyncio.gather(*(client.get(f"/san-pham/{slug}") for _ in range(30)))
    assert {page.status_code for page in pages} == {200}
    assert all(MISSING[dependency] in page.text for page in pages)
    assert shop.whole(slug)["degraded"] == []


@pytest.mark.parametrize("state", ["stopped", "hung"])
def test_a_cache_that_is_away_is_a_miss(
    world: World, shop: Shop, slug: str, cache_process: psutil.Process, state: str
) -> None:
    shop.copied(slug)
    with away(shop, cache_process, state):
        assert shop.whole(slug)["reviews"]["total"] == 1
        with broken(world.reviews, "refuse"):
            answer = shop.product(slug)
        assert (answer.status_code, answer.json()["reviews"]) == (200, None)
    shop.whole(slug)


@contextmanager
def away(shop: Shop, cache: psutil.Process, state: str) -> Iterator[None]:
    """It refuses whoever asks, or stands still."""
    if state == "stopped":
        shop.cache.config_set("requirepass", "somebody-elses")
        shop.cache.client_kill_filter(_type="normal", skipme=True)
        try:
            yield
        finally:
            shop.cache.auth("somebody-elses")
            shop.cache.config_set("requirepass", "")
        return
    cache.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cache.send_signal(signal.SIGCONT)


def test_what_is_degraded_is_counted(world: World, shop: Shop, slug: str) -> None:
    shop.copied(slug)
    shop.drop_copies()
    with broken(world.recommendations, "500"):
        shop.product(slug)
    lines = shop.client.get("/metrics").text.splitlines()
    counted = next(
        line for line in lines if line.startswith('degraded_parts_total{dependency="recommendations"')
    )
    assert 'shown="nothing"' in counted
    assert float(counted.rpartition(" ")[2]) >= 1
