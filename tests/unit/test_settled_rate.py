"""A rate that replicas share without asking anybody while a request waits."""

from __future__ import annotations

from collections import Counter

from redis.exceptions import ConnectionError as Disconnected

from app.stores.settled_rate import RateConfig, SettledRate

CONFIG = RateConfig(limit=100, window_s=10)


class Shared:
    """The counters of all replicas."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.calls = 0
        self.is_away = False

    async def add(self, key: str, _expiry_s: int, amount: int) -> int:
        self.calls += 1
        if self.is_away:
            raise Disconnected
        self.totals[key] += amount
        return self.totals[key]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def passed(rate: SettledRate, times: int, caller: str = "a") -> int:
    return sum(rate.wait_s(caller) == 0 for _ in range(times))


async def test_one_replica_lets_exactly_the_limit_pass_and_says_when_the_next_may() -> None:
    clock = Clock()
    rate = SettledRate(CONFIG, Shared().add, clock=clock)
    assert passed(rate, 150) == 100
    clock.now += 3.5
    assert rate.wait_s("a") == 7
    assert rate.wait_s("b") == 0
    clock.now = 1010.0
    assert passed(rate, 150) == 100


async def test_replicas_share_the_limit_as_soon_as_they_have_settled() -> None:
    shared, clock = Shared(), Clock()
    replicas = [SettledRate(CONFIG, shared.add, clock=clock) for _ in range(3)]
    let_through = 0
    for _ in range(20):
        let_through += sum(passed(replica, 10) for replica in replicas)
        for replica in replicas:
            await replica.settle()
    assert 100 <= let_through <= 100 + 3 * 10  # what came between two settlings
    assert all(passed(replica, 1) == 0 for replica in replicas)


async def test_quiet_callers_cost_no_call() -> None:
    shared = Shared()
    rate = SettledRate(CONFIG, shared.add, clock=Clock())
    for number in range(1000):
        passed(rate, 4, caller=str(number))
    await rate.settle()
    assert shared.calls == 0


async def test_a_refused_request_does_not_lengthen_the_wait() -> None:
    shared, clock = Shared(), Clock()
    rate = SettledRate(CONFIG, shared.add, clock=clock)
    passed(rate, 1000)
    await rate.settle()
    assert sum(shared.totals.values()) == 100


async def test_without_redis_each_replica_counts_for_itself_and_tells_later() -> None:
    shared, clock = Shared(), Clock()
    rate = SettledRate(CONFIG, shared.add, clock=clock)
    shared.is_away = True
    assert passed(rate, 60) == 60
    await rate.settle()
    assert passed(rate, 60) == 40
    shared.is_away = False
    await rate.settle()
    assert sum(shared.totals.values()) == 100


async def test_what_is_over_is_forgotten() -> None:
    shared, clock = Shared(), Clock()
    rate = SettledRate(CONFIG, shared.add, clock=clock)
    for number in range(1000):
        rate.wait_s(str(number))
    clock.now += 10
    rate.wait_s("a")
    await rate.settle()
    assert len(rate) == 1
