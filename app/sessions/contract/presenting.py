"""What a browser may present, and who it is then."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette

from ..records import Ended
from ..sessions import Sessions
from .small_app import Client, InApp, new_browser


class PresentingContract(InApp):
    """What a browser may present, and who it is then."""

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "x" * 8192,
            "%00",
            "\xff\xfe",
            '"quoted"',
            "../x",
            "*",
            "contract:*",
            "r1.a.b.c",
            "r1..",
            "....",
            "q9.a.b",
        ],
    )
    async def test_a_hostile_cookie_is_nobody(self, browser: Client, sessions: Sessions, value: str) -> None:
        header = {b"cookie": f"{sessions.config.cookie}=".encode() + value.encode("latin-1")}
        answer = await browser.get("/show", headers=header)
        assert (answer.status_code, answer.json()) == (200, {"user": None, "fields": {}})
        assert "set-cookie" not in answer.headers

    async def test_of_two_cookies_the_first_that_we_signed_counts(
        self, browser: Client, app: Starlette, sessions: Sessions
    ) -> None:
        name = sessions.config.cookie
        async with new_browser(app) as other:
            for client, user in ((browser, "user:1"), (other, "user:2")):
                await client.get(f"/login?user={user}")
            mine, theirs = (client.cookies[name] for client in (browser, other))
        async with new_browser(app) as both:
            for line, user in (
                (f"{name}={mine}; {name}=garbage", "user:1"),
                (f"{name}=garbage; x{name}=1; {name}={mine}", "user:1"),
                (f"{name}={mine}; {name}={theirs}", "user:1"),
                (f"{name}={theirs}; {name}={mine}", "user:2"),
            ):
                assert (await both.get("/show", headers={"cookie": line})).json()["user"] == user

    async def test_an_unknown_ticket_of_ours_is_never_adopted(
        self, browser: Client, sessions: Sessions
    ) -> None:
        await browser.get("/add?name=n")
        value = browser.cookies[sessions.config.cookie]
        await browser.get("/logout")
        ticket = sessions.presented([(b"cookie", f"{sessions.config.cookie}={value}".encode())])
        assert ticket is not None
        header = {"cookie": f"{sessions.config.cookie}={value}"}
        answers = [await browser.get(path, headers=header) for path in ("/show", "/login?user=user:1")]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert value not in answers[1].headers["set-cookie"]
        assert isinstance(await sessions.primary.load(ticket), Ended)
