"""Accounts at the desk: found, locked at once, let in again, logged out here or everywhere."""

from __future__ import annotations

import secrets

import httpx
from sqlalchemy import text

from tests.web.conftest import BROWSER, Person, World
from tests.web.desk.browsers import browser_of, form
from tests.web.test_pages import Page


async def path_of(owner: httpx.AsyncClient, email: str) -> str:
    listed = (await owner.get("/quan-tri/tai-khoan", params={"q": email})).text
    assert listed.count('<a href="/quan-tri/tai-khoan/') == 1
    return "/quan-tri/tai-khoan/" + listed.split('<a href="/quan-tri/tai-khoan/')[1].split('"')[0]


async def email_of(owner: httpx.AsyncClient) -> str:
    return str((await owner.get("/api/v1/session")).json()["account"]["email"])


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
    assert (await do(owner, path, "lock", nonce=nonce)).headers["location"] == f"{path}?done=1"
    assert (await do(owner, path, "lock", nonce=nonce)).headers["location"] == path
    assert (await do(owner, path, "end-all", nonce=nonce)).headers["location"] == path
    await do(owner, path, "unlock")
    await world.database.maintain(text("UPDATE audit SET at = at - interval '2 minutes'"))
    assert (await do(owner, path, "lock", nonce=nonce)).headers["location"] == path
    assert "Đã khóa" not in (await owner.get(path)).text


async def test_another_role_counts_at_once_and_the_log_tells_of_it(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    path = await path_of(owner, person.email)
    async with world.client(headers=BROWSER) as browser:
        await logged_in(person, browser)
        fields = {**form((await owner.get(path)).text, "role"), "role": "owner"}
        assert fields["seen"] == "customer"
        assert (await owner.post(path, data=fields)).headers["location"] == f"{path}?done=1"
        assert (await browser.get("/tai-khoan")).status_code == 303, "whoever was in comes in anew"
        await logged_in(person, browser)
        assert (await browser.get("/quan-tri")).status_code == 200
        assert (await owner.post(path, data=fields)).headers["location"] == path
        assert (await browser.get("/quan-tri")).status_code == 200, "the form was carried out before"
        await do(owner, path, "role", role="operator", seen="owner")
        assert (await browser.get("/quan-tri")).status_code == 303
        await logged_in(person, browser)
        assert (await browser.get("/quan-tri")).status_code == 403
    log = (await owner.get(f"/quan-tri/nhat-ky?subject={path.rpartition('/')[2]}")).text
    assert log.count("account.role") == 2
    assert ("role: customer" in log, "role: owner" in log, "role: operator" in log) == (True, True, True)


async def test_of_two_owners_who_give_a_role_at_once_the_second_is_shown_the_first_ones(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    path = await path_of(owner, person.email)
    async with browser_of(world, "owner") as other:
        fields = form((await other.get(path)).text, "role")
        await do(owner, path, "role", role="operator", seen="customer")
        behind = await other.post(path, data={**fields, "role": "owner"})
        assert behind.status_code == 409
        Page(behind.text)
        again = form(behind.text, "role")
        assert (again["seen"], '<option value="owner" selected>' in behind.text) == ("operator", True)
        assert (await other.post(path, data={**again, "role": "owner"})).status_code == 303


async def test_nobody_locks_themselves_and_nothing_strange_is_done(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    own = await path_of(owner, await email_of(owner))
    assert 'value="lock"' not in (await owner.get(own)).text
    path = await path_of(owner, person.email)
    assert (await do(owner, own, "lock")).status_code == 403
    assert (await do(owner, own, "role", role="customer", seen="owner")).status_code == 403
    for what in ("", "promote", "delete"):
        assert (await do(owner, path, what)).status_code == 422
    for roles in (
        {"role": "king"},
        {"role": "owner"},
        {"role": "owner", "seen": "king"},
        {"seen": "customer"},
    ):
        assert (await do(owner, path, "role", **roles)).status_code == 422, roles
    assert (await do(owner, path, "end-one", handle="x\0")).status_code == 404
    for each in (own, path):
        log = (await owner.get(f"/quan-tri/nhat-ky?subject={each.rpartition('/')[2]}")).text
        assert "account." not in log, "an entry of what was refused"
    assert (await owner.get("/quan-tri/tai-khoan/x")).status_code == 404
    async with browser_of(world, "operator") as browser:
        assert (await browser.get(path)).status_code == 403
        assert (await do(browser, path, "lock")).status_code == 403
