"""Locking an account and changing its role end its sessions at once, also those that are just beginning."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from app.shop.desk.audit import Deed
from app.shop.errors import Forbidden
from tests.web.conftest import BROWSER, Person, World
from tests.web.mailing import delivered_to


async def account_id(world: World, person: Person) -> str:
    known = await world.shop.accounts.credentials(person.email)
    assert known
    return known[0].id


async def who(client: httpx.AsyncClient) -> str | None:
    account = (await client.get("/api/v1/session")).json()["account"]
    return account and str(account["email"])


async def test_a_locked_account_is_out_at_once_and_only_its_password_tells_why(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    await world.shop.people.standing.lock(await account_id(world, person), by=None)
    assert await who(shopper) is None
    async with world.client(headers=BROWSER) as browser, world.client() as api:
        wrong = await browser.post("/dang-nhap", data={"email": person.email, "password": "sai-mat-khau"})
        right = await browser.post("/dang-nhap", data=person.credentials)
        told = await api.post("/api/v1/session", json=person.credentials)
    assert (wrong.status_code, "đã bị khóa" in wrong.text) == (401, False)
    assert (right.status_code, "đã bị khóa" in right.text) == (403, True)
    assert (told.status_code, told.json()["code"]) == (403, "account_locked")
    assert "set-cookie" not in right.headers
    await world.shop.people.standing.unlock(await account_id(world, person), by=None)
    assert await who(shopper) is None, "what was ended stays ended"
    async with world.client() as api:
        assert (await api.post("/api/v1/session", json=person.credentials)).status_code == 200
    kinds = [kind for kind, _ in await delivered_to(world, person.email)]
    assert kinds == ["welcome", "account_locked", "account_unlocked"]


async def test_a_log_in_that_a_lock_overtakes_is_dead_from_its_birth(world: World, person: Person) -> None:
    passwords = world.shop.log_in.passwords
    locked = asyncio.Event()
    reached = asyncio.Event()

    class Slow:
        """Verifies, and tells the truth only after the account was locked."""

        async def verify(self, password: str, hashed: str | None) -> bool:
            genuine = await passwords.verify(password, hashed)
            reached.set()
            await locked.wait()
            return genuine

        def outdated(self, hashed: str) -> bool:
            return passwords.outdated(hashed)

    object.__setattr__(world.shop.log_in, "passwords", Slow())
    async with world.client() as thief:
        late = asyncio.create_task(thief.post("/api/v1/session", json=person.credentials))
        await reached.wait()
        await world.shop.people.standing.lock(await account_id(world, person), by=None)
        locked.set()
        assert (await late).status_code in {200, 403, 409}
        assert await who(thief) is None


async def test_a_request_in_flight_ends_with_the_lock(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    offers = world.shop.add_to_cart.offers
    whose = await account_id(world, person)

    async def slow(skus: object) -> object:
        await world.shop.people.standing.lock(whose, by=None)
        return await offers(skus)  # type: ignore[arg-type]  # what it was asked

    object.__setattr__(world.shop.add_to_cart, "offers", slow)
    await shopper.get("/api/v1/cart")
    answer = await shopper.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "session_ended")


async def test_another_role_is_another_session(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    whose = await account_id(world, person)
    account = await world.shop.people.standing.give(whose, "operator", by=None)
    assert account.role == "operator"
    assert await who(shopper) is None
    assert [kind for kind, _ in await delivered_to(world, person.email)][-1] == "role_changed"
    await shopper.post("/dang-nhap", data=person.credentials)
    await world.shop.people.standing.give(whose, "operator", by=None)
    assert await who(shopper) == person.email, "nothing changed, so nobody is out"


async def test_nobody_locks_themselves(world: World, person: Person) -> None:
    whose = await account_id(world, person)
    deed = Deed(account_id=whose, address="127.0.0.1", nonce="n" * 22)
    with pytest.raises(Forbidden):
        await world.shop.people.standing.lock(whose, by=deed)
    with pytest.raises(Forbidden):
        await world.shop.people.standing.give(whose, "customer", by=deed)
