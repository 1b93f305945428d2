"""Logging in and out, seen from a browser."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette

from .small_app import Client, InApp, new_browser


class EnteringContract(InApp):
    """Logging in and out, seen from a browser."""

    async def test_login_changes_the_ticket_and_keeps_what_a_visitor_gathered(
        self, browser: Client, app: Starlette
    ) -> None:
        await browser.get("/add?name=n")
        before = dict(browser.cookies)
        await browser.get("/login?user=user:1")
        assert dict(browser.cookies) != before
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"n": 1}}
        async with new_browser(app, before) as thief:
            assert (await thief.get("/show")).json() == {"user": None, "fields": {}}

    async def test_a_visitors_data_is_merged_into_the_kept_once(self, browser: Client) -> None:
        await browser.post("/put", json={"a": 2, "b": 1, "note": "x"})
        answers = await asyncio.gather(*(browser.get("/merge") for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 4
        await browser.get("/merge")
        fields = {"a": 3, "b": 1, "c": 5, "note": "x"}
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": fields}

    async def test_login_as_the_same_user_changes_the_ticket_and_keeps_the_data(
        self, browser: Client, app: Starlette
    ) -> None:
        await browser.get("/login?user=user:1")
        await browser.get("/add?name=n")
        before = dict(browser.cookies)
        await browser.get("/login?user=user:1")
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"n": 1}}
        async with new_browser(app, before) as thief:
            assert (await thief.get("/show")).json()["user"] is None

    async def test_login_as_somebody_else_drops_the_data(self, browser: Client) -> None:
        await browser.get("/login?user=user:1")
        await browser.get("/add?name=n")
        await browser.get("/login?user=user:2")
        assert (await browser.get("/show")).json() == {"user": "user:2", "fields": {}}

    async def test_login_as_somebody_else_drops_what_was_changed_inside_a_value(
        self, browser: Client
    ) -> None:
        await browser.get("/login?user=user:1")
        await browser.post("/put", json={"seen": []})
        await browser.get("/switch?user=user:1")
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"seen": [1, 2]}}
        await browser.get("/switch?user=user:2")
        assert (await browser.get("/show")).json() == {"user": "user:2", "fields": {}}

    async def test_of_parallel_logins_with_one_cookie_one_wins(self, browser: Client) -> None:
        await browser.get("/add?name=n")
        old = dict(browser.cookies)
        answers = await asyncio.gather(*(browser.get("/login?user=user:1") for _ in range(50)))
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 49
        assert sum("set-cookie" in answer.headers for answer in answers) == 1
        assert dict(browser.cookies) != old
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"n": 1}}
        assert len((await browser.get("/devices")).json()) == 1

    async def test_logout_ends_the_session_and_takes_the_cookie_away(
        self, browser: Client, app: Starlette
    ) -> None:
        await browser.get("/login?user=user:1")
        before = dict(browser.cookies)
        answer = await browser.get("/logout")
        assert "Path=/" in answer.headers["set-cookie"]
        assert dict(browser.cookies) == {}
        async with new_browser(app, before) as thief:
            assert (await thief.get("/show")).json()["user"] is None
