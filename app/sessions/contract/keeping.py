"""What a session keeps between requests, seen from a browser."""

from __future__ import annotations

import asyncio

import pytest

from ..sessions import Sessions
from .small_app import Client, InApp


class KeepingContract(InApp):
    """What a session keeps between requests, seen from a browser."""

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

    async def test_what_is_changed_during_or_after_a_write_is_written_too(self, browser: Client) -> None:
        await browser.post("/put", json={"seen": []})
        await browser.get("/changing")
        shown = (await browser.get("/show")).json()
        assert shown["fields"] == {"seen": [1, 2], "n": 1, "meanwhile": 1}

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

    async def test_an_answer_that_depends_on_the_session_says_so(self, browser: Client) -> None:
        assert "vary" not in (await browser.get("/static")).headers
        assert (await browser.get("/show")).headers["vary"] == "Cookie"
        first = await browser.get("/add?name=n")
        for answer in (first, await browser.get("/show")):
            assert answer.headers["cache-control"] == "private, no-store"
