from __future__ import annotations

import asyncio
import logging

import pytest

from app.observability.background import in_background
from app.observability.health import Check, Components


class Component:
    """Well, ill, hanging, or hanging on for good, as the test says."""

    def __init__(self) -> None:
        self.mood = "well"
        self.looks = 0
        self.let_go = asyncio.Event()

    async def look(self) -> None:
        self.looks += 1
        if self.mood == "ill":
            raise ConnectionError("refused")
        while self.mood != "well":
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                if self.mood == "hangs":
                    raise


def check_of(component: Component, name: str = "redis", *, essential: bool = True) -> Check:
    return Check(
        name=name, look=component.look, essential=essential, without="?", timeout_s=0.05, every_s=0.01
    )


async def state_of(components: Components, check: Check) -> str:
    await components.look(check)
    return components.report()["components"][check.name]["state"]


async def test_a_component_is_unknown_until_somebody_looked() -> None:
    report = Components([check_of(Component())]).report()

    assert report["status"] == "unknown"
    assert report["components"]["redis"]["age_s"] is None


@pytest.mark.parametrize(
    ("mood", "why"), [("ill", "ConnectionError: refused"), ("hangs", "no answer within 0.05 s")]
)
async def test_a_component_that_fails_or_hangs_is_down_and_up_again_afterwards(mood: str, why: str) -> None:
    component = Component()
    check = check_of(component)
    components = Components([check])
    component.mood = mood

    assert await state_of(components, check) == "down"
    assert components.report()["components"]["redis"]["why"] == why
    component.mood = "well"
    assert await state_of(components, check) == "up"


async def test_a_look_that_cannot_be_cancelled_is_left_behind_and_is_the_only_one() -> None:
    component = Component()
    component.mood = "stubborn"
    check = check_of(component)
    components = Components([check])

    assert [await state_of(components, check) for _ in range(3)] == ["down"] * 3
    assert component.looks == 1

    component.mood = "well"
    component.let_go.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await state_of(components, check) == "up"


async def test_the_whole_is_down_with_something_essential_and_degraded_with_something_helpful() -> None:
    redis, reviews = Component(), Component()
    checks = [check_of(redis), check_of(reviews, "reviews", essential=False)]
    components = Components(checks)
    statuses = []
    for redis.mood, reviews.mood in (("well", "well"), ("well", "ill"), ("ill", "well")):
        for check in checks:
            await components.look(check)
        statuses.append(components.report()["status"])

    assert statuses == ["up", "degraded", "down"]


async def test_one_that_hangs_delays_no_other() -> None:
    hanging, well = Component(), Component()
    hanging.mood = "hangs"
    components = Components([check_of(hanging), check_of(well, "database")])
    async with in_background(components.run()), asyncio.timeout(10):
        while well.looks < 10:  # noqa: ASYNC110 -- a component tells nobody that it was looked at
            await asyncio.sleep(0.01)

    assert components.states()["database"] == "up"


async def test_the_age_and_how_long_it_has_been_so_are_told() -> None:
    now = [100.0]
    component = Component()
    check = check_of(component)
    components = Components([check], clock=lambda: now[0])
    for moment in (100.0, 105.0):
        now[0] = moment
        await components.look(check)
    now[0] = 107.0

    report = components.report()["components"]["redis"]
    assert (report["age_s"], report["in_this_state_s"]) == (2.0, 7.0)


async def test_only_changes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="app.observability.health")
    component = Component()
    check = check_of(component)
    components = Components([check])
    for component.mood in ("well", "ill", "ill", "well", "well"):
        await components.look(check)

    assert [record.getMessage() for record in caplog.records] == [
        "component redis is down: ConnectionError: refused",
        "component redis is up: answers",
    ]


async def test_background_work_that_fails_is_logged_and_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> None:
        raise LookupError("nothing there")

    component = Component()
    components = Components([check_of(component)])
    async with in_background(broken(), components.run()), asyncio.timeout(10):
        while component.looks < 3:  # noqa: ASYNC110 -- likewise
            await asyncio.sleep(0.01)

    assert "broken failed" in caplog.text


async def test_background_work_that_misses_a_cancellation_still_ends() -> None:
    missed = asyncio.Event()

    async def hard_of_hearing() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            missed.set()
        await asyncio.sleep(3600)

    async with asyncio.timeout(10):
        async with in_background(hard_of_hearing()):
            await asyncio.sleep(0)
    assert missed.is_set()
