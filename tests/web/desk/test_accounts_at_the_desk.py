"""Accounts at the desk: found, locked at once, let in again, logged out here or everywhere."""

from __future__ import annotations

import secrets

import httpx
from sqlalchemy import text

from tests.web.conftest import BROWSER, Person, World
from tests.web.desk.browsers import browser_of
from tests.web.test_pages import Page


async def path_of(owner: httpx.AsyncClient, email: str) -> str:
    listed = (await owner.get("/quan-tri/tai-khoan", params={"q": email})).text
    assert listed.count('<a href="/quan-tri/tai-khoan/') == 1
    return "/quan-tri/tai-khoan/" + listed.split('<a href="/quan-tri/tai-khoan/')[1].split('"')[0]


async def do(owner: httpx.AsyncClient, path: str, what: str, **more: str) -> httpx.Response:
    return await owner.post(path, data={"nonce": secrets.token_urlsafe(16), "do": what, **more})


async def logged_in(person: Person, browser: httpx.AsyncClient) -> httpx.Response:
    return await browser.post("/dang-nhap", data=person.credentials)


async def test_a_locked_account_is_out_at_once_and_stays_out_until_it_is_let_in(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    path = await path_of(owner, person.email)
    async with world.client(headers=BROWSER) as browser:
        await logged_in(person, browser)
        assert (await browser.get("/tai-khoan")).status_code == 200
        assert (await do(owner, path, "lock")).headers["location"] == f"{path}?done=1"
        assert (await browser.get("/tai-khoan")).status_code == 303
        assert (await logged_in(person, browser)).status_code != 303
        assert "Đã khóa" in (await owner.get(path)).text
        await do(owner, path, "unlock")
        assert (await logged_in(person, browser)).status_code == 303
    log = (await owner.get(f"/quan-tri/nhat-ky?subject={path.rpartition('/')[2]}")).text
    assert "account.lock" in log
    assert "account.unlock" in log


async def test_one_session_or_all_of_them_are_ended(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    path = await path_of(owner, person.email)
    async with world.client(headers=BROWSER) as phone, world.client(headers=BROWSER) as desk:
        for browser in (phone, desk):
            await logged_in(person, browser)
        shown = (await owner.get(path)).text
        Page(shown)
        handles = [part.split('"')[0] for part in shown.split('name="handle" value="')[1:]]
        assert len(handles) == 2
        await do(owner, path, "end-one", handle=handles[0])
        statuses = sorted([(await browser.get("/tai-khoan")).status_code for browser in (phone, desk)])
        assert statuses == [200, 303]
        await do(owner, path, "end-all")
        assert [(await browser.get("/tai-khoan")).status_code for browser in (phone, desk)] == [303, 303]
    assert "Không ở đâu cả" in (await owner.get(path)).text


async def test_an_old_form_that_is_sent_again_locks_nobody_anew(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    path = await path_of(owner, person.email)
    nonce = secrets.token_urlsafe(16)
    for _ in range(2):
        assert (await do(owner, path, "lock", nonce=nonce)).headers["location"] == f"{path}?done=1"
    assert (await do(owner, path, "end-all", nonce=nonce)).headers["location"] == path
    await do(owner, path, "unlock")
    await world.database.maintain(text("UPDATE audit SET at = at - interval '2 minutes'"))
    assert (await do(owner, path, "lock", nonce=nonce)).headers["location"] == path
    assert "Đã khóa" not in (await owner.get(path)).text


async def test_nobody_locks_themselves_and_nothing_strange_is_done(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    account = (await owner.get("/tai-khoan")).text
    email = account.split("@chopho.example")[0].rpartition(">")[2] + "@chopho.example"
    assert (await do(owner, await path_of(owner, email), "lock")).status_code == 403
    path = await path_of(owner, person.email)
    for what in ("", "promote", "delete"):
        assert (await do(owner, path, what)).status_code == 422
    assert (await do(owner, path, "end-one", handle="x\0")).status_code == 404
    assert (await owner.get("/quan-tri/tai-khoan/x")).status_code == 404
    async with browser_of(world, "operator") as browser:
        assert (await browser.get(path)).status_code == 403
        assert (await do(browser, path, "lock")).status_code == 403
