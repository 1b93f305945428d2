"""What ended stays ended, seen from a browser."""

from __future__ import annotations

import asyncio

import pytest
from starlette.applications import Starlette

from ..config import SessionConfig
from .clock import Clock
from .small_app import Client, InApp, Slow, new_browser


class EndingContract(InApp):
    """What ended stays ended, seen from a browser."""

    @pytest.mark.parametrize("looks", ["", "1"])
    @pytest.mark.parametrize("writes", ["set", "add"])
    @pytest.mark.parametrize(
        "ending", ["/logout", "/end?which=all", "/end?which=others", "/login?user=user:1"]
    )
    async def test_a_write_under_way_when_the_session_ends_is_a_409_without_a_cookie(
        self, browser: Client, app: Starlette, slow: Slow, looks: str, writes: str, ending: str
    ) -> None:
        await browser.get("/login?user=user:1")
        async with new_browser(app, dict(browser.cookies)) as tab:
            under_way = asyncio.create_task(tab.get(f"/slow?looks={looks}&writes={writes}"))
            await slow.arrived.wait()
            assert (await browser.get(ending)).status_code == 200
            slow.go_on.set()
            answer = await under_way
        assert answer.status_code == 409
        assert "set-cookie" not in answer.headers

    async def test_a_slow_reader_never_keeps_an_ended_session_alive(
        self, browser: Client, app: Starlette, slow: Slow, clock: Clock, config: SessionConfig
    ) -> None:
        await browser.get("/login?user=user:1")
        cookies = dict(browser.cookies)
        # Late enough that the mere use of it renews a session.
        clock.advance(config.idle_timeout * 0.3)
        async with new_browser(app, cookies) as tab:
            under_way = asyncio.create_task(tab.get("/slow?looks=1"))
            await slow.arrived.wait()
            await browser.get("/logout")
            slow.go_on.set()
            assert "set-cookie" not in (await under_way).headers
            assert (await tab.get("/show")).json()["user"] is None

    async def test_an_expired_session_is_followed_by_a_fresh_one(
        self, browser: Client, clock: Clock, config: SessionConfig
    ) -> None:
        await browser.get("/login?user=user:1")
        before = dict(browser.cookies)
        clock.advance(config.idle_timeout)
        assert (await browser.get("/show")).json() == {"user": None, "fields": {}}
        assert dict(browser.cookies) == before
        assert (await browser.get("/add?name=n")).json() == {"number": 1}
        assert dict(browser.cookies) != before
        assert (await browser.get("/show")).json() == {"user": None, "fields": {"n": 1}}

    async def test_the_others_end_and_this_one_goes_on(self, browser: Client, app: Starlette) -> None:
        await browser.get("/login?user=user:1")
        await browser.get("/add?name=n")
        async with new_browser(app) as other:
            await other.get("/login?user=user:1")
            assert (await browser.get("/end?which=others")).status_code == 200
            assert (await other.get("/show")).json()["user"] is None
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"n": 1}}

    async def test_one_is_ended_by_its_handle(self, browser: Client, app: Starlette) -> None:
        await browser.get("/login?user=user:1")
        (mine,) = (await browser.get("/devices")).json()
        async with new_browser(app) as other:
            await other.get("/login?user=user:1")
            handles = set((await other.get("/devices")).json())
            assert (await browser.get(f"/end?which={(handles - {mine}).pop()}")).json() is True
            assert (await other.get("/show")).json()["user"] is None
            assert (await other.get("/login?user=user:1")).status_code == 200
        assert (await browser.get("/show")).json()["user"] == "user:1"
