"""Logging in and out, seen from a browser."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import pytest
from starlette.applications import Starlette

from ..errors import BadUser
from ..session import Session
from ..sessions import Sessions
from .small_app import Client, InApp, new_browser

NOBODY: Final[tuple[Any, ...]] = (
    "",
    " ",
    "\t\n",
    "\u3000",
    "a\0",
    "user:\x1b[1m",
    "user:\x85",
    "half a pair \ud800",
    "u" * 257,
    "ữ" * 86,
    5,
    b"user:1",
    None,
)
"""What an app may call a user by mistake."""


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

    async def test_what_can_be_no_user_is_refused_and_nobody_is_logged_in_or_out(
        self, browser: Client, sessions: Sessions
    ) -> None:
        await browser.get("/login?user=user:1")
        await browser.get("/add?name=n")
        line = f"{sessions.config.cookie}={browser.cookies[sessions.config.cookie]}".encode()
        for user in NOBODY:
            for headers in ([], [(b"cookie", line)]):
                session = Session(sessions, {"type": "http", "headers": headers})
                with pytest.raises(BadUser):
                    await session.login(user)
                assert await session.user() == ("user:1" if headers else None)
            for ask in (
                sessions.devices,
                sessions.end_all,
                sessions.epoch,
                partial(sessions.end_one, handle="0"),
            ):
                with pytest.raises(BadUser):
                    await ask(user)
        assert (await browser.get("/show")).json() == {"user": "user:1", "fields": {"n": 1}}

    async def test_an_id_of_any_script_is_a_user(self, browser: Client, sessions: Sessions) -> None:
        for user in ("Nguyễn Ánh 🧧", "u" * 256):
            await browser.get("/login", params={"user": user})
            assert (await browser.get("/show")).json()["user"] == user
            assert len(await sessions.devices(user)) == 1
            assert not await sessions.end_one(user, "half a pair \ud800")
            await sessions.end_all(user)
            assert (await browser.get("/show")).json()["user"] is None

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
