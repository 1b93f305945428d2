"""A token that somebody copied: what its late return ends, and what honest browsers never trip over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx
import pytest

from app.sessions.contract import Clock
from tests.apps.session_app import CONFIG, serving

COOKIE = CONFIG.cookie


@dataclass
class Browser:
    """One jar of cookies, and whoever holds a copy of one."""

    client: httpx.AsyncClient
    stranger: httpx.AsyncClient
    clock: Clock

    @property
    def cookie(self) -> str:
        return self.client.cookies[COOKIE]

    async def get(self, path: str = "/cart") -> httpx.Response:
        """A request of its own; the jar takes what the answer brings."""
        return await self.client.get(path)

    async def user_with(self, cookie: str) -> tuple[str | None, bool]:
        """Who is logged in with that cookie, and whether the answer changes it."""
        self.stranger.cookies.clear()
        answer = await self.stranger.get("/cart", headers={"cookie": f"{COOKIE}={cookie}"})
        return answer.json()["user"], "set-cookie" in answer.headers

    def wait(self, **span: float) -> None:
        self.clock.advance(timedelta(**span))

    async def renew(self) -> str:
        """Let the token grow old, let ten tabs renew it at once, and return it as it was before."""
        old = self.cookie
        self.wait(minutes=5)
        answers = await asyncio.gather(*(self.get() for _ in range(10)))
        assert {answer.json()["user"] for answer in answers} == {"user:1"}
        assert self.cookie != old
        return old


@pytest.fixture
async def browser(redis_url: str) -> AsyncIterator[Browser]:
    """Somebody logged in."""
    clock = Clock()
    async with (
        serving(f"jwt+{redis_url}", replace(CONFIG, clock=clock)) as new,
        new() as client,
        new() as stranger,
    ):
        await client.get("/login")
        yield Browser(client, stranger, clock)


async def test_an_older_token_that_returns_late_ends_the_session_and_deletes_no_cookie(
    browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    copy = await browser.renew()
    await browser.get()
    browser.wait(minutes=2)
    assert await browser.user_with(copy) == (None, False)
    assert await browser.user_with(browser.cookie) == (None, False)
    (record,) = (record for record in caplog.records if record.levelname == "WARNING")
    assert "came back" in record.message
    assert copy not in record.message
    # Whoever logs in again is not troubled by it.
    await browser.get("/login")
    assert await browser.user_with(copy) == (None, False)
    assert (await browser.get()).json()["user"] == "user:1"


async def test_the_owner_who_returns_to_a_renewed_copy_ends_it_too(browser: Browser) -> None:
    old = await browser.renew()
    thief = browser.cookie
    await browser.user_with(thief)
    browser.wait(minutes=2)
    assert await browser.user_with(old) == (None, False)
    assert await browser.user_with(thief) == (None, False)


async def test_a_write_with_a_copy_is_a_409_and_ends_the_session(browser: Browser) -> None:
    copy = await browser.renew()
    await browser.get()
    browser.wait(minutes=2)
    answer = await browser.stranger.get("/add", headers={"cookie": f"{COOKIE}={copy}"})
    assert (answer.status_code, answer.headers.get("set-cookie")) == (409, None)
    assert await browser.user_with(browser.cookie) == (None, False)


async def test_tabs_that_are_a_renewal_apart_are_one_browser(browser: Browser) -> None:
    old = await browser.renew()
    await browser.get()
    browser.wait(seconds=50)
    assert await browser.user_with(old) == ("user:1", False)
    browser.wait(minutes=5)
    assert (await browser.get()).json()["user"] == "user:1"


async def test_an_answer_that_never_arrived_ends_nothing(browser: Browser) -> None:
    old = await browser.renew()
    for _ in range(3):
        browser.wait(minutes=3)
        assert await browser.user_with(old) == ("user:1", True)


async def test_an_answer_that_was_overtaken_ends_nothing(browser: Browser) -> None:
    await browser.get("/add")
    overtaken = browser.cookie
    browser.wait(seconds=30)
    await browser.get("/add")
    await browser.get()
    browser.wait(minutes=10)
    assert (await browser.user_with(overtaken))[0] == "user:1"


async def test_a_copy_that_is_over_ends_nothing(browser: Browser) -> None:
    copy = await browser.renew()
    for _ in range(4):
        browser.wait(minutes=4)
        await browser.get()
    assert await browser.user_with(copy) == (None, False)
    assert (await browser.get()).json()["user"] == "user:1"
