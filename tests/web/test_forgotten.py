"""A forgotten password: one link, one use, half an hour, and nobody learns who has an account."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.web.conftest import BROWSER, Person, World
from tests.web.mailing import delivered, delivered_to, link_in

NEW = "mật-khẩu-mới-hơn"
DEAD = "dùng, đã hết hạn"


async def asked(world: World, email: str) -> str | None:
    """The token that a person gets who asks for one, or None."""
    async with world.client() as client:
        answer = await client.post("/api/v1/password/forgotten", json={"email": email})
        assert answer.status_code == 202
    letters = [text for message, text in await delivered(world) if message.kind == "password_reset"]
    if not letters:
        return None
    (text,) = letters
    return parse_qs(urlsplit(link_in(text)).query)["token"][0]


async def reset(world: World, token: str, new: str = NEW) -> int:
    async with world.client() as client:
        answer = await client.post("/api/v1/password/reset", json={"token": token, "new": new})
    return answer.status_code


async def comes_in(world: World, person: Person, password: str) -> bool:
    async with world.client() as client:
        answer = await client.post("/api/v1/session", json={"email": person.email, "password": password})
    return answer.status_code == 200


async def who(client: httpx.AsyncClient) -> str | None:
    account = (await client.get("/api/v1/session")).json()["account"]
    return account and str(account["email"])


def run(world: World, statement: str, *values: str) -> list[tuple[object, ...]]:
    url = make_url(world.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection:
        found = connection.execute(statement.encode(), values)
        return found.fetchall() if found.description else []


async def test_the_pages_lead_from_the_log_in_to_a_new_password(
    world: World, browser: httpx.AsyncClient, person: Person
) -> None:
    assert 'href="/quen-mat-khau"' in (await browser.get("/dang-nhap")).text
    assert (await browser.get("/quen-mat-khau")).status_code == 200
    answer = await browser.post("/quen-mat-khau", data={"email": person.email.upper()})
    assert (answer.status_code, answer.headers["location"]) == (303, "/quen-mat-khau?asked=1")
    assert "một đường dẫn đang được gửi" in (await browser.get(answer.headers["location"])).text
    ((kind, text),) = [one for one in await delivered_to(world, person.email) if one[0] == "password_reset"]
    assert kind == "password_reset"
    assert text.startswith(f"Chào {person.name},")
    link = link_in(text)
    for _ in range(2):  # as a mail scanner does before the reader
        page = await browser.get(link)
        assert page.status_code == 200
        assert "set-cookie" not in page.headers
    token = parse_qs(urlsplit(link).query)["token"][0]
    short = await browser.post("/dat-lai-mat-khau", data={"token": token, "new": "ngắn"})
    assert (short.status_code, token in short.text) == (422, True)
    done = await browser.post("/dat-lai-mat-khau", data={"token": token, "new": NEW})
    assert (done.status_code, done.headers["location"]) == (303, "/dang-nhap?reset=1")
    assert "Mật khẩu mới đã được đặt" in (await browser.get(done.headers["location"])).text
    assert await comes_in(world, person, NEW)
    assert not await comes_in(world, person, person.password)
    again = await browser.get(link)
    assert (again.status_code, DEAD in again.text) == (410, True)
    assert [kind for kind, _ in await delivered_to(world, person.email)] == ["password_changed"]


async def test_every_session_of_the_account_ends_also_one_with_a_request_in_flight(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    token = await asked(world, person.email)
    assert token
    offers = world.shop.add_to_cart.offers

    async def slow(skus: object) -> object:
        assert await reset(world, token) == 204
        return await offers(skus)  # type: ignore[arg-type]  # what it was asked

    object.__setattr__(world.shop.add_to_cart, "offers", slow)
    await shopper.get("/api/v1/cart")
    answer = await shopper.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "session_ended")
    assert await who(shopper) is None
    assert run(world, "SELECT epoch IS NULL FROM revocations ORDER BY id DESC LIMIT 1") == [(False,)]


async def test_of_ten_uses_at_once_one_counts(world: World, person: Person) -> None:
    token = await asked(world, person.email)
    assert token
    passwords = [f"{NEW}-{number}" for number in range(10)]
    statuses = await asyncio.gather(*(reset(world, token, new) for new in passwords))
    assert sorted(statuses) == [204] + [410] * 9
    assert await comes_in(world, person, passwords[statuses.index(204)])
    assert [kind for kind, _ in await delivered_to(world, person.email)] == ["password_changed"]


async def test_a_link_dies_with_a_change_of_the_password_and_with_its_time(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    token = await asked(world, person.email)
    late = await asked(world, person.email)
    assert token
    assert late
    run(
        world,
        "UPDATE password_resets SET expires_at = now() - interval '1 second' WHERE id = "
        "(SELECT max(id) FROM password_resets)",
    )
    assert await reset(world, late) == 410
    changed = await shopper.post("/api/v1/password", json={"current": person.password, "new": "another-one"})
    assert changed.status_code == 204
    assert await reset(world, token) == 410
    assert await comes_in(world, person, "another-one")


async def test_nothing_at_rest_opens_an_account(world: World, person: Person) -> None:
    async with world.client() as client:
        await client.post("/api/v1/password/forgotten", json={"email": person.email})
    resting = "SELECT fields::text FROM outbox WHERE kind = 'password_reset' AND recipient = %s"
    assert run(world, resting, person.email) == [("{}",)]
    ((_, text),) = [one for one in await delivered_to(world, person.email) if one[0] == "password_reset"]
    token = parse_qs(urlsplit(link_in(text)).query)["token"][0]
    kept = str(run(world, "SELECT * FROM password_resets")) + str(run(world, "SELECT * FROM outbox"))
    assert token not in kept
    digests = [str(digest) for (digest,) in run(world, "SELECT token_digest FROM password_resets")]
    assert [await reset(world, digest) for digest in digests] == [410] * len(digests)


async def test_whoever_asks_learns_nothing_from_the_answer(world: World, person: Person) -> None:
    """Same status, headers and body for an account, for none, and for what is no e-mail; and the same row."""
    emails = [
        person.email,
        "nobody@khach.example",
        "no e-mail",
        "ánh@khach.example",
        "x" * 500 + "@a.example",
    ]
    seen = set()
    for email in emails:
        async with world.client() as client, world.client(headers=BROWSER) as browser:
            told = await client.post("/api/v1/password/forgotten", json={"email": email})
            shown = await browser.post("/quen-mat-khau", data={"email": email})
        for answer in (told, shown):
            assert "set-cookie" not in answer.headers
        headers = [
            {name: value for name, value in answer.headers.items() if name != "x-request-id"}
            for answer in (told, shown)
        ]
        seen.add((told.status_code, told.text, shown.status_code, shown.text, str(headers)))
    assert len(seen) == 1
    asked_for = run(world, "SELECT recipient FROM outbox WHERE kind = 'password_reset'")
    assert ("nobody@khach.example",) in asked_for, "who has no account costs the same row"
    got = [message.recipient for message, _ in await delivered(world) if message.kind == "password_reset"]
    assert got == [person.email] * 2


async def test_a_mailbox_is_not_filled_and_the_links_that_are_in_it_stay_good(
    world: World, person: Person
) -> None:
    async with world.client() as client:
        statuses = [
            (await client.post("/api/v1/password/forgotten", json={"email": person.email})).status_code
            for _ in range(6)
        ]
    assert statuses == [202] * 6
    letters = [text for kind, text in await delivered_to(world, person.email) if kind == "password_reset"]
    assert len(letters) == 3
    assert await reset(world, parse_qs(urlsplit(link_in(letters[0])).query)["token"][0]) == 204


async def test_one_address_asks_for_few_accounts_wherever_it_asks(world: World) -> None:
    async with world.client() as client:
        statuses = [
            (
                await client.post("/api/v1/password/forgotten", json={"email": f"n{number}@khach.example"})
            ).status_code
            for number in range(25)
        ]
    assert statuses == [202] * 20 + [429] * 5


@pytest.mark.parametrize("token", ["", "x", "x" * 5000, "\0", "\ud800", "' OR 1=1 --"])
async def test_what_is_no_token_is_a_dead_link(world: World, token: str) -> None:
    async with world.client(headers=BROWSER) as client:
        page = await client.get(
            "/dat-lai-mat-khau", params={"token": token.encode(errors="replace").decode()}
        )
        assert page.status_code == 410
    assert await reset(world, token.encode(errors="replace").decode()) in {410, 422}


async def test_a_locked_account_gets_no_link_and_its_link_opens_nothing(world: World, person: Person) -> None:
    token = await asked(world, person.email)
    assert token
    key = person.email.casefold()
    known = await world.shop.accounts.credentials(key)
    assert known
    await world.shop.people.standing.lock(known[0].id, by=None)
    assert await asked(world, person.email) is None
    assert await reset(world, token) == 410


async def test_two_tabs_of_the_pages_of_many_people_do_not_meet(world: World, person: Person) -> None:
    other = Person(email="khac." + person.email, password="mat-khau-khac", name="Khác")
    await world.shop.register(email=other.email, password=other.password, name=other.name)
    token = await asked(world, person.email)
    assert token
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(world.client(headers=BROWSER))
        await client.post("/dang-nhap", data=other.credentials)
        done = await client.post("/dat-lai-mat-khau", data={"token": token, "new": NEW})
        assert done.status_code == 303
        assert await who(client) == other.email
    assert await comes_in(world, other, other.password)
