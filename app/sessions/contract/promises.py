"""What a session promises to the app and to the browser, whatever the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..config import SessionConfig
from ..errors import Refused
from ..merging import merged
from ..middleware import SessionMiddleware, session_of
from ..pending import JSON
from ..records import Ended
from ..sessions import Sessions
from .clock import Clock
from .storing import Fixtures


async def _show(request: Request) -> JSONResponse:
    session = session_of(request)
    return JSONResponse({"user": await session.user(), "fields": await session.items()})


async def _put(request: Request) -> JSONResponse:
    session = session_of(request)
    for name, value in (await request.json()).items():
        await session.set(name, value)
    return JSONResponse({})


async def _append(request: Request) -> JSONResponse:
    session = session_of(request)
    seen: Any = await session.get("seen", None)
    if seen is None:
        await session.set("seen", [])
    else:
        seen.append(len(seen))
    return JSONResponse({})


async def _add(request: Request) -> JSONResponse:
    try:
        number = await session_of(request).increment(request.query_params["name"], 1, high=99)
    except Refused as refused:
        return JSONResponse({"field": refused.field}, 422)
    return JSONResponse({"number": number})


async def _login(request: Request) -> JSONResponse:
    await session_of(request).login(request.query_params["user"])
    return JSONResponse({})


async def _merge(request: Request) -> JSONResponse:
    kept = {"a": 1, "c": 5}

    def together(fields: Mapping[str, JSON]) -> Mapping[str, JSON]:
        guest = {name: n for name, n in fields.items() if isinstance(n, int)}
        return {**fields, **merged(guest, kept, "sum")}

    await session_of(request).login("user:1", merge=together)
    return JSONResponse({})


async def _logout(request: Request) -> JSONResponse:
    await session_of(request).logout()
    return JSONResponse({})


async def _devices(request: Request) -> JSONResponse:
    return JSONResponse([device.handle for device in await session_of(request).devices()])


async def _end(request: Request) -> JSONResponse:
    session = session_of(request)
    match request.query_params["which"]:
        case "others":
            await session.end_others()
        case "all":
            await session.end_all()
        case handle:
            return JSONResponse(await session.end_one(handle))
    return JSONResponse({})


async def _static(request: Request) -> JSONResponse:
    return JSONResponse({"path": request.url.path})


async def _much(request: Request) -> JSONResponse:
    session = session_of(request)
    await session.set("early", 1)
    numbers = [await session.increment("n", 2)]
    await session.login("user:1")
    await session.set("a", [1])
    numbers += [await session.increment("n", 2), await session.increment("n", 2)]
    await session.delete("early")
    await session.commit()
    await session.set("late", 1)
    return JSONResponse({"user": await session.user(), "fields": await session.items(), "numbers": numbers})


async def _at_once(request: Request) -> JSONResponse:
    session = session_of(request)
    await asyncio.gather(session.items(), session.increment("n"), session.get("n"), session.increment("n"))
    once, twice = await session.get("n"), (await session.items())["n"]
    return JSONResponse([once, twice, await session.increment("n", 0)])


class Slow:
    """A route that looks at its session, waits for the test, then writes or not."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, request: Request) -> JSONResponse:
        session = session_of(request)
        looks, writes = (request.query_params.get(name) for name in ("looks", "writes"))
        if looks:
            await session.user()
        self.arrived.set()
        await self.go_on.wait()
        if writes == "set":
            await session.set("late", 1)
        elif writes == "add":
            await session.increment("late", 1)
        return JSONResponse({"user": await session.user()})


Client = httpx.AsyncClient


class SessionsContract(Fixtures):
    """The promises, seen from a browser; a subclass brings `sessions`."""

    @pytest.fixture
    def sessions(self) -> Sessions:
        """The layer under test, open."""
        raise NotImplementedError

    @pytest.fixture
    def slow(self) -> Slow:
        """The slow route."""
        return Slow()

    @pytest.fixture
    def app(self, sessions: Sessions, slow: Slow) -> Starlette:
        """A small app."""
        routes = {"show": _show, "put": _put, "append": _append, "add": _add, "login": _login}
        routes |= {
            "logout": _logout,
            "devices": _devices,
            "end": _end,
            "static": _static,
            "merge": _merge,
            "at_once": _at_once,
            "much": _much,
        }
        app = Starlette(
            routes=[
                *(Route(f"/{path}", route, methods=["GET", "POST"]) for path, route in routes.items()),
                Route("/slow", slow.__call__),
            ]
        )
        app.add_middleware(SessionMiddleware, sessions=sessions)
        return app

    @pytest.fixture
    async def browser(self, app: Starlette) -> AsyncIterator[Client]:
        """A browser with a cookie jar of its own."""
        async with new_browser(app) as client:
            yield client

    async def test_nothing_is_stored_or_set_for_who_only_looks(self, browser: Client) -> None:
        answers = [await browser.get(path) for path in ("/show", "/static", "/devices", "/nowhere")]
        assert [answer.headers.get("set-cookie") for answer in answers] == [None] * 4
        assert answers[0].json() == {"user": None, "fields": {}}

    async def test_what_one_request_sets_the_next_one_reads(self, browser: Client) -> None:
        fields = {"name": "Nguyễn Thị Ánh 🧧", "n": 3, "list": [1, {"a": None}], "yes": True}
        answer = await browser.post("/put", json=fields)
        assert "set-cookie" in answer.headers
        answer = await browser.get("/show")
        assert answer.json()["fields"] == fields
        assert "set-cookie" not in answer.headers

    async def test_one_request_may_do_much_with_one_session(self, browser: Client) -> None:
        for times in (1, 2):
            done = (await browser.get("/much")).json()
            assert done["numbers"] == [n + 6 * (times - 1) for n in (2, 4, 6)]
            assert done["fields"] == {"a": [1], "late": 1, "n": 6 * times}
            shown = (await browser.get("/show")).json()
            assert shown == {"user": "user:1", "fields": done["fields"]}
            assert len((await browser.get("/devices")).json()) == 1

    async def test_what_one_request_does_at_once_agrees_in_the_end(self, browser: Client) -> None:
        await browser.post("/put", json={"n": 1})
        assert (await browser.get("/at_once")).json() == [3, 3, 3]

    async def test_a_change_inside_a_value_is_noticed(self, browser: Client) -> None:
        for _ in range(4):
            await browser.get("/append")
        assert (await browser.get("/show")).json()["fields"] == {"seen": [0, 1, 2]}

    async def test_parallel_requests_lose_no_write(self, browser: Client, sessions: Sessions) -> None:
        if not sessions.primary.concurrent_writes:
            pytest.skip(
                "this backend keeps the fields in the ticket, so parallel writes overwrite each other"
            )
        await browser.get("/add?name=n")
        await asyncio.gather(
            *(browser.get("/add?name=n") for _ in range(20)),
            *(browser.post("/put", json={f"f{i}": i}) for i in range(20)),
        )
        fields = (await browser.get("/show")).json()["fields"]
        assert fields == {"n": 21, **{f"f{i}": i for i in range(20)}}

    async def test_out_of_bounds_is_refused_and_changes_nothing(self, browser: Client) -> None:
        await browser.post("/put", json={"n": 99})
        assert (await browser.get("/add?name=n")).status_code == 422
        assert (await browser.get("/show")).json()["fields"] == {"n": 99}

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

    async def test_an_answer_that_depends_on_the_session_says_so(self, browser: Client) -> None:
        assert "vary" not in (await browser.get("/static")).headers
        assert (await browser.get("/show")).headers["vary"] == "Cookie"
        first = await browser.get("/add?name=n")
        for answer in (first, await browser.get("/show")):
            assert answer.headers["cache-control"] == "private, no-store"

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


@asynccontextmanager
async def new_browser(app: Starlette, cookies: dict[str, str] | None = None) -> AsyncIterator[Client]:
    """A browser, perhaps with cookies it came by somehow."""
    transport = httpx.ASGITransport(app)
    async with Client(transport=transport, base_url="http://shop.example", cookies=cookies) as client:
        yield client
