"""The snapshot asks little, is never too old, and forgets nothing that matters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

import pytest

from app.shop.catalog import Offer, Sku
from app.shop.errors import Unavailable
from app.stores.offers import OffersSnapshot


class Shelf:
    """A catalogue that counts its queries and can be held up."""

    def __init__(self) -> None:
        self.queries: list[set[Sku]] = []
        self.price = 100
        self.open = asyncio.Event()
        self.open.set()
        self.away = False

    async def __call__(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        asked = set(skus)
        self.queries.append(asked)
        price = self.price
        await self.open.wait()
        if self.away:
            raise Unavailable("the database")
        return {
            sku: Offer(sku=sku, slug=sku, name=sku, price=price, stock=1) for sku in asked if sku != "UNKNOWN"
        }


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def snapshot(shelf: Shelf, clock: Clock) -> OffersSnapshot:
    return OffersSnapshot(shelf, clock=clock, most=10)


async def test_many_requests_at_once_are_one_query(snapshot: OffersSnapshot, shelf: Shelf) -> None:
    answers = await asyncio.gather(*(snapshot(["A", f"S{number}", "UNKNOWN"]) for number in range(5)))
    assert [set(answer) for answer in answers] == [{"A", f"S{number}"} for number in range(5)]
    assert shelf.queries == [{"A", "UNKNOWN", "S0", "S1", "S2", "S3", "S4"}]


async def test_within_two_seconds_nothing_is_asked_again(
    snapshot: OffersSnapshot, shelf: Shelf, clock: Clock
) -> None:
    await snapshot(["A", "UNKNOWN"])
    clock.now += 2.0
    assert set(await snapshot(["A", "UNKNOWN"])) == {"A"}
    assert len(shelf.queries) == 1


async def test_past_two_seconds_the_new_price_is_shown(
    snapshot: OffersSnapshot, shelf: Shelf, clock: Clock
) -> None:
    await snapshot(["A"])
    shelf.price = 200
    clock.now += 2.01
    assert (await snapshot(["A"]))["A"].price == 200


async def test_age_counts_from_before_the_query(snapshot: OffersSnapshot, shelf: Shelf, clock: Clock) -> None:
    shelf.open.clear()
    asking = asyncio.create_task(snapshot(["A"]))
    await asyncio.sleep(0.01)
    clock.now += 3
    shelf.open.set()
    await asking
    await snapshot(["A"])
    assert len(shelf.queries) == 2


async def test_what_is_wanted_during_a_query_shares_it_or_the_next(
    snapshot: OffersSnapshot, shelf: Shelf
) -> None:
    shelf.open.clear()
    asking = [asyncio.create_task(snapshot(["A"]))]
    await asyncio.sleep(0.01)
    asking += [asyncio.create_task(snapshot([sku])) for sku in ("A", "B", "C")]
    await asyncio.sleep(0.01)
    assert shelf.queries == [{"A"}]
    shelf.open.set()
    await asyncio.gather(*asking)
    assert shelf.queries == [{"A"}, {"B", "C"}]


async def test_one_who_leaves_does_not_take_the_answer_from_the_others(
    snapshot: OffersSnapshot, shelf: Shelf
) -> None:
    shelf.open.clear()
    leaving, staying = (asyncio.create_task(snapshot(["A"])) for _ in range(2))
    await asyncio.sleep(0.01)
    leaving.cancel()
    await asyncio.sleep(0)
    shelf.open.set()
    assert set(await staying) == {"A"}


async def test_a_failure_reaches_everyone_who_waits_and_is_not_kept(
    snapshot: OffersSnapshot, shelf: Shelf
) -> None:
    shelf.away = True
    outcomes = await asyncio.gather(*(snapshot(["A"]) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [Unavailable] * 3
    shelf.away = False
    assert set(await snapshot(["A"])) == {"A"}


async def test_a_failure_that_nobody_waits_for_any_more_is_silent(
    snapshot: OffersSnapshot, shelf: Shelf
) -> None:
    shelf.open.clear()
    leaving = asyncio.create_task(snapshot(["A"]))
    await asyncio.sleep(0.01)
    leaving.cancel()
    shelf.away = True
    shelf.open.set()
    await asyncio.sleep(0.01)
    shelf.away = False
    assert set(await snapshot(["A"])) == {"A"}


async def test_no_more_is_kept_than_allowed(snapshot: OffersSnapshot, shelf: Shelf) -> None:
    for number in range(100):
        await snapshot([f"S{number}"])
    assert len(snapshot) == 10
    await snapshot(["S99"])
    assert len(shelf.queries) == 100
    assert len(await snapshot([f"S{number}" for number in range(50)])) == 50
