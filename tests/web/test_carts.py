"""A shopper's cart on pages and in the API: before the log-in, after it, and on another device."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from tests.web.conftest import BROWSER, Build, Person, World


def lines_of(answer: httpx.Response) -> dict[str, int]:
    return {line["sku"]: line["quantity"] for line in answer.json()["lines"]}


async def add(client: httpx.AsyncClient, sku: str, quantity: int = 1) -> httpx.Response:
    return await client.post("/api/v1/cart/items", json={"sku": sku, "quantity": quantity})


@pytest.mark.parametrize(("merging", "units"), [("sum", 3), ("max", 2), ("guest", 2), ("keep", 1)])
async def test_a_guests_cart_meets_the_accounts_as_it_is_set(
    build_world: Build, person: Person, merging: Any, units: int
) -> None:
    world = build_world(merging=merging)
    async with world.client() as phone, world.client() as laptop:
        await phone.post("/api/v1/session", json=person.credentials)
        await add(phone, "PHIN-S", 1)
        await add(laptop, "PHIN-S", 2)
        await add(laptop, "PHIN-L", 1)
        for _ in range(2):
            await laptop.post("/api/v1/session", json=person.credentials)
            assert lines_of(await laptop.get("/api/v1/cart")) == {"PHIN-S": units, "PHIN-L": 1}
        await laptop.delete("/api/v1/session")
        assert lines_of(await laptop.get("/api/v1/cart")) == {}
        await laptop.post("/api/v1/session", json=person.credentials)
        assert lines_of(await laptop.get("/api/v1/cart")) == {"PHIN-S": units, "PHIN-L": 1}
        assert lines_of(await phone.get("/api/v1/cart")) == {"PHIN-S": units, "PHIN-L": 1}


async def test_one_log_in_sent_twice_at_once_doubles_no_line(world: World, person: Person) -> None:
    async with world.client() as visitor:
        await add(visitor, "PHIN-S", 2)
        cookie = {"cookie": f"session={visitor.cookies['session']}"}
    async with world.client(headers=cookie) as resent:
        answers = await asyncio.gather(
            *(resent.post("/api/v1/session", json=person.credentials) for _ in range(2))
        )
    assert sorted(answer.status_code for answer in answers) in ([200, 409], [200, 200])
    async with world.client() as device:
        await device.post("/api/v1/session", json=person.credentials)
        assert lines_of(await device.get("/api/v1/cart")) == {"PHIN-S": 2}


async def test_what_finds_no_room_is_told_to_the_shopper_in_both_languages(
    world: World, browser: httpx.AsyncClient, person: Person
) -> None:
    async with world.client() as phone:
        await phone.post("/api/v1/session", json=person.credentials)
        await add(phone, "CF-ARA-500", 2)
    await browser.post("/gio-hang/them", data={"sku": "CF-ARA-500", "quantity": "1"})
    await browser.post("/dang-nhap", data=person.credentials)
    told = (await browser.get("/api/v1/cart")).json()
    assert lines_of(await browser.get("/api/v1/cart")) == {"CF-ARA-500": 2}
    assert [(line["sku"], line["quantity"]) for line in told["left_out"]] == [("CF-ARA-500", 1)]
    name = told["left_out"][0]["name"]
    assert f"{name}: bớt 1" in (await browser.get("/gio-hang")).text
    await browser.post("/ngon-ngu", data={"language": "en"})
    assert f"{name}: 1 left out" in (await browser.get("/gio-hang")).text
    await browser.post("/gio-hang/sua", data={"sku": "CF-ARA-500", "quantity": "1"})
    assert (await browser.get("/api/v1/cart")).json()["left_out"] == []


@pytest.mark.parametrize(
    ("merging", "both", "left_out"),
    [
        ("sum", 3, {"PHIN-S": 3, "PHIN-L": 2}),
        ("max", 3, {"PHIN-S": 1, "PHIN-L": 2}),
        ("guest", 3, {"PHIN-S": 1, "PHIN-L": 2}),
        ("keep", 2, {"PHIN-L": 2}),
    ],
)
async def test_a_log_in_on_the_page_merges_as_it_is_set_within_the_stock_and_tells_what_it_left(
    build_world: Build, person: Person, merging: Any, both: int, left_out: dict[str, int]
) -> None:
    """The account has 2 of the one, the guest 4 of each, and by the log-in 3 and 2 are left on the shelf."""
    world = build_world(merging=merging)
    shelf = {"PHIN-S": 3, "PHIN-L": 2}
    async with world.client() as phone, world.client(headers=BROWSER) as browser:
        await phone.post("/api/v1/session", json=person.credentials)
        await add(phone, "PHIN-S", 2)
        for sku in shelf:
            await browser.post("/gio-hang/them", data={"sku": sku, "quantity": "4"})
        with stocked(world, shelf):
            assert (await browser.post("/dang-nhap", data=person.credentials)).status_code == 303
            told = await browser.get("/api/v1/cart")
            page = (await browser.get("/gio-hang")).text
        assert lines_of(told) == {"PHIN-S": both, "PHIN-L": 2}
        notices = {line["sku"]: line for line in told.json()["left_out"]}
        assert {sku: line["quantity"] for sku, line in notices.items()} == left_out
        for line in notices.values():
            assert f"{line['name']}: bớt {line['quantity']}" in page


@contextmanager
def stocked(world: World, shelf: Mapping[str, int]) -> Iterator[None]:
    """So many on the shelf meanwhile."""
    with psycopg.connect(world.database_url.replace("+psycopg", ""), autocommit=True) as connection:
        before = {}
        for sku, units in shelf.items():
            before[sku] = connection.execute("SELECT stock FROM variants WHERE sku = %s", [sku]).fetchone()
            connection.execute("UPDATE variants SET stock = %s WHERE sku = %s", [units, sku])
        try:
            yield
        finally:
            for sku, row in before.items():
                assert row
                connection.execute("UPDATE variants SET stock = %s WHERE sku = %s", [row[0], sku])


async def test_every_form_of_the_cart_that_is_sent_again_has_the_effect_of_one(
    shopper: httpx.AsyncClient,
) -> None:
    added = {"sku": "PHIN-S", "quantity": "2", "nonce": "a" * 22}
    for form, data, units in (
        ("/gio-hang/them", added, 2),
        ("/gio-hang/sua", {"sku": "PHIN-S", "quantity": "5", "nonce": "b" * 22}, 5),
        ("/gio-hang/them", added, 5),
        ("/gio-hang/xoa", {"sku": "PHIN-S", "nonce": "c" * 22}, None),
    ):
        answers = await asyncio.gather(*(shopper.post(form, data=data) for _ in range(4)))
        assert {answer.status_code for answer in answers} == {303}
        assert lines_of(await shopper.get("/api/v1/cart")).get("PHIN-S") == units
    reused = await shopper.post("/gio-hang/them", data={**added, "quantity": "3"})
    assert reused.status_code == 422
    assert lines_of(await shopper.get("/api/v1/cart")) == {}


@pytest.mark.parametrize("text", ["-5", "1.5", "1_000", "１２", "٣", "+3", "", "2147483648", "9" * 22])
async def test_a_quantity_that_is_none_changes_no_account_cart(shopper: httpx.AsyncClient, text: str) -> None:
    await add(shopper, "PHIN-S", 2)
    for form in ("/gio-hang/them", "/gio-hang/sua"):
        answer = await shopper.post(form, data={"sku": "PHIN-S", "quantity": text})
        assert answer.status_code == 422, form
        assert "Số lượng phải là một số nguyên dương" in answer.text
    twice = await shopper.post(
        "/gio-hang/sua",
        content=f"sku=PHIN-S&quantity=1&quantity={text or 2}",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert twice.status_code == 422
    assert lines_of(await shopper.get("/api/v1/cart")) == {"PHIN-S": 2}


async def test_a_registration_keeps_the_cart_that_was_filled_before(
    world: World, browser: httpx.AsyncClient
) -> None:
    await add(browser, "PHIN-S", 2)
    answer = await browser.post(
        "/dang-ky", data={"email": "moi-mo@khach.example", "password": "mat-khau-dai", "name": "Mới"}
    )
    assert answer.status_code == 303
    assert lines_of(await browser.get("/api/v1/cart")) == {"PHIN-S": 2}
    credentials = {"email": "moi-mo@khach.example", "password": "mat-khau-dai"}
    async with world.client(headers=BROWSER) as laptop:
        await laptop.post("/dang-nhap", data=credentials)
        assert lines_of(await laptop.get("/api/v1/cart")) == {"PHIN-S": 2}
