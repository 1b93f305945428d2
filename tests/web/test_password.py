"""Changing a password: the new one counts, every other session ends, and this one goes on under a new cookie."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.redis_servers import own_redis
from tests.web.conftest import BROWSER, Build, Person, World

NEW = "mật-khẩu-mới-hơn"


@pytest.fixture
async def others(world: World, person: Person) -> AsyncIterator[list[httpx.AsyncClient]]:
    """The same person on two more devices."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(world.client()) for _ in range(2)]
        for client in clients:
            await client.post("/api/v1/session", json=person.credentials)
        yield clients


async def who(client: httpx.AsyncClient) -> str | None:
    """The e-mail of whoever is logged in."""
    account = (await client.get("/api/v1/session")).json()["account"]
    return account and str(account["email"])


def kept(world: World) -> list[int | None]:
    """The epochs of all ends of sessions, oldest first."""
    url = make_url(world.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection:
        return [epoch for (epoch,) in connection.execute("SELECT epoch FROM revocations ORDER BY id")]


async def test_a_change_ends_every_other_session_and_renews_this_one(
    world: World, shopper: httpx.AsyncClient, others: list[httpx.AsyncClient], person: Person
) -> None:
    before, rows = dict(shopper.cookies), len(kept(world))
    answer = await shopper.post("/api/v1/password", json={"current": person.password, "new": NEW})
    assert answer.status_code == 204
    assert dict(shopper.cookies) != before
    assert await who(shopper) == person.email
    assert [await who(other) for other in others] == [None, None]
    async with world.client(cookies=before) as old:
        assert await who(old) is None
    epochs = kept(world)[rows:]
    assert len(epochs) == 1
    assert epochs[0]
    async with world.client() as client:
        old_password = await client.post("/api/v1/session", json=person.credentials)
        new_password = await client.post("/api/v1/session", json={**person.credentials, "password": NEW})
    assert (old_password.status_code, new_password.status_code) == (401, 200)


async def test_the_page_changes_it_and_says_so(
    shopper: httpx.AsyncClient, others: list[httpx.AsyncClient], person: Person
) -> None:
    page = await shopper.get("/tai-khoan/mat-khau")
    nonce = re.search(r'name="nonce" value="([^"]+)"', page.text)
    assert page.status_code == 200
    assert nonce
    form = {"nonce": nonce[1], "current": person.password, "new": NEW}
    answer = await shopper.post("/tai-khoan/mat-khau", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/tai-khoan/mat-khau?changed=1")
    done = await shopper.get(answer.headers["location"])
    assert "Mật khẩu đã đổi" in done.text
    assert [await who(other) for other in others] == [None, None]


@pytest.mark.parametrize(
    ("current", "new", "says"),
    [
        ("sai-mat-khau", NEW, "Mật khẩu hiện tại chưa đúng."),
        ("", NEW, "Mật khẩu hiện tại chưa đúng."),
        ("mat-khau-dai", "ngắn", "Mật khẩu cần ít nhất 8 ký tự."),
        ("mat-khau-dai", "x" * 500, "Mật khẩu chỉ được dài tối đa 256 ký tự."),
    ],
)
async def test_what_does_not_do_changes_nothing_and_ends_nobody(
    shopper: httpx.AsyncClient,
    others: list[httpx.AsyncClient],
    person: Person,
    current: str,
    new: str,
    says: str,
) -> None:
    answer = await shopper.post("/tai-khoan/mat-khau", data={"current": current, "new": new})
    assert (answer.status_code, says in answer.text) == (422, True)
    assert current == "" or current not in answer.text
    assert new not in answer.text
    told = await shopper.post("/api/v1/password", json={"current": current, "new": new})
    assert told.status_code == 422
    assert [await who(client) for client in (shopper, *others)] == [person.email] * 3


async def test_guessing_the_current_password_is_slowed_like_guessing_at_the_door(
    shopper: httpx.AsyncClient,
) -> None:
    statuses = {
        (await shopper.post("/api/v1/password", json={"current": f"đoán-thử-{n:02}", "new": NEW})).status_code
        for n in range(30)
    }
    assert statuses == {422, 429}


async def test_nobody_changes_a_password_without_being_logged_in(world: World) -> None:
    async with world.client(headers=BROWSER) as visitor:
        page = await visitor.get("/tai-khoan/mat-khau")
        sent = await visitor.post("/tai-khoan/mat-khau", data={"current": "x" * 8, "new": NEW})
        told = await visitor.post("/api/v1/password", json={"current": "x" * 8, "new": NEW})
    assert (page.status_code, sent.status_code, told.status_code) == (303, 303, 401)


async def test_of_two_changes_at_once_one_counts(world: World, person: Person) -> None:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(world.client()) for _ in range(2)]
        for client in clients:
            await client.post("/api/v1/session", json=person.credentials)
        answers = await asyncio.gather(
            *(
                client.post("/api/v1/password", json={"current": person.password, "new": f"{NEW}-{number}"})
                for number, client in enumerate(clients)
            )
        )
        assert sum(answer.status_code == 204 for answer in answers) == 1
        assert {await who(client) for client in clients} == {None, person.email}


async def test_a_log_in_that_read_the_old_password_is_dead_once_it_was_changed(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    passwords = world.shop.log_in.passwords
    changed = asyncio.Event()

    class Slow:
        """Verifies, and tells the truth only after the password was changed."""

        async def verify(self, password: str, hashed: str | None) -> bool:
            genuine = await passwords.verify(password, hashed)
            await changed.wait()
            return genuine

        def outdated(self, hashed: str) -> bool:
            return passwords.outdated(hashed)

    object.__setattr__(world.shop.log_in, "passwords", Slow())
    async with world.client() as thief:
        late = asyncio.create_task(thief.post("/api/v1/session", json=person.credentials))
        await asyncio.sleep(0.2)
        answer = await shopper.post("/api/v1/password", json={"current": person.password, "new": NEW})
        assert answer.status_code == 204
        changed.set()
        assert (await late).status_code in {200, 401, 409}
        assert await who(thief) is None
    assert await who(shopper) == person.email


@pytest.mark.parametrize("which", ["one", "others"])
@pytest.mark.parametrize("how", ["api", "page"])
async def test_a_change_whose_own_session_was_ended_meanwhile_spares_none(
    world: World,
    shopper: httpx.AsyncClient,
    others: list[httpx.AsyncClient],
    person: Person,
    which: str,
    how: str,
) -> None:
    hashing = world.shop.change_password.passwords
    devices = (await shopper.get("/api/v1/sessions")).json()["items"]
    (mine,) = [device["handle"] for device in devices if device["current"]]

    class Overtaken:
        """Before the new password counts, another device logs this one out."""

        async def hash(self, password: str) -> str:
            ended = await others[0].delete(f"/api/v1/sessions{f'/{mine}' if which == 'one' else ''}")
            assert ended.status_code == 204
            return await hashing.hash(password)

        async def verify(self, password: str, hashed: str | None) -> bool:
            return await hashing.verify(password, hashed)

    object.__setattr__(world.shop.change_password, "passwords", Overtaken())
    form = {"nonce": "n" * 20, "current": person.password, "new": NEW}
    answer = (
        await shopper.post("/api/v1/password", json={"current": person.password, "new": NEW})
        if how == "api"
        else await shopper.post("/tai-khoan/mat-khau", data=form)
    )
    assert answer.status_code == (204 if how == "api" else 303)
    assert "set-cookie" not in answer.headers
    assert [await who(client) for client in (shopper, *others)] == [None] * 3
    assert kept(world)[-1]
    async with world.client() as client:
        changed = await client.post("/api/v1/session", json={**person.credentials, "password": NEW})
    assert changed.status_code == 200


async def test_a_request_in_flight_on_another_device_ends_with_a_409_and_no_cookie(
    world: World, shopper: httpx.AsyncClient, others: list[httpx.AsyncClient], person: Person
) -> None:
    """Its session is loaded, then the password is changed, then it writes."""
    offers = world.shop.add_to_cart.offers

    async def slow(skus: object) -> object:
        answer = await shopper.post("/api/v1/password", json={"current": person.password, "new": NEW})
        assert answer.status_code == 204
        return await offers(skus)  # type: ignore[arg-type]  # what it was asked

    object.__setattr__(world.shop.add_to_cart, "offers", slow)
    await others[0].get("/api/v1/cart")
    answer = await others[0].post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "session_ended")
    assert "set-cookie" not in answer.headers


async def test_ends_by_the_owner_are_kept_too(
    world: World, shopper: httpx.AsyncClient, others: list[httpx.AsyncClient]
) -> None:
    rows = len(kept(world))
    await shopper.delete("/api/v1/sessions")
    assert [await who(other) for other in others] == [None, None]
    await shopper.post("/tai-khoan/phien", data={"which": "others"})
    await shopper.delete("/api/v1/sessions?all=true")
    assert await who(shopper) is None
    epochs = [epoch or 0 for epoch in kept(world)[rows:]]
    assert len(epochs) == 3
    assert epochs == sorted(epochs)
    assert all(epochs)


async def test_a_store_that_goes_away_after_the_change_is_told_truly_and_the_promise_stays(
    build_world: Build, person: Person, tmp_path: Path
) -> None:
    with own_redis(tmp_path) as server:
        world = build_world(server.url)
        async with world.client() as client:
            await client.post("/api/v1/session", json=person.credentials)
            hashing = world.shop.change_password.passwords

            class Last:
                """The last thing before the transaction."""

                async def hash(self, password: str) -> str:
                    server.stop()
                    return await hashing.hash(password)

                async def verify(self, password: str, hashed: str | None) -> bool:
                    return await hashing.verify(password, hashed)

            object.__setattr__(world.shop.change_password, "passwords", Last())
            answer = await client.post("/api/v1/password", json={"current": person.password, "new": NEW})
            assert (answer.status_code, answer.json()["code"]) == (503, "sessions_linger")
            assert kept(world)[-1] is None
