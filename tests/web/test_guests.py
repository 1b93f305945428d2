"""Shoppers without an account: they order, follow their order by a link, and nobody else sees it."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from uuid import uuid4

import httpx
import psycopg

from app.shop.desk.audit import Deed
from tests.web.conftest import BROWSER, Build, Person, World
from tests.web.test_orders import stock

SHIPPING = {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc"}
TYPED = {**SHIPPING, "email": "vang-lai@khach.example", "payment": "cod", "nonce": "n" * 22}


async def fill(client: httpx.AsyncClient) -> None:
    await client.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2})


async def order(client: httpx.AsyncClient, key: str = "k", **more: Any) -> httpx.Response:
    body = {"shipping": SHIPPING, "payment": {"token": "cod"}, "expected_total": 70_000, **more}
    return await client.post(
        "/api/v1/guest-orders",
        json={"email": "vang-lai@khach.example", **body},
        headers={"Idempotency-Key": key},
    )


async def test_a_guest_orders_on_the_page_and_follows_the_order_by_its_link(
    world: World, browser: httpx.AsyncClient
) -> None:
    await fill(browser)
    page = await browser.get("/thanh-toan")
    assert page.status_code == 200
    assert 'name="email"' in page.text
    placed = await browser.post("/thanh-toan", data={**TYPED, "expected_total": "70000"})
    assert placed.status_code == 303
    own = await browser.get(placed.headers["location"])
    link = re.search(r'href="(/don-hang/theo-doi/[^"]+)"', own.text)
    assert link
    assert (await browser.get("/api/v1/cart")).json()["lines"] == []
    async with world.client(headers=BROWSER) as elsewhere:
        assert (await elsewhere.get(placed.headers["location"])).status_code == 303
        followed = await elsewhere.get(link[1])
        assert followed.status_code == 200
        assert "12 Hàng Bạc" in followed.text
        assert followed.headers["referrer-policy"] == "same-origin"
        assert followed.headers["x-robots-tag"] == "noindex"
        assert followed.headers["cache-control"] == "private, no-store"
        for wrong in (
            link[1][:-1],
            link[1] + "A",
            link[1][:-1] + "/in",
            link[1][:-1] + "/huy",
            "/don-hang/theo-doi/" + own.url.path[-36:],
            "/don-hang/theo-doi/ệ",
        ):
            assert (await elsewhere.get(wrong)).status_code == 404


async def test_whoever_has_the_link_prints_and_cancels_it_once(world: World, api: httpx.AsyncClient) -> None:
    before = await stock(world)
    await fill(api)
    link = (await order(api)).json()["follow"]
    async with world.client(headers=BROWSER) as elsewhere:
        paper = await elsewhere.get(f"{link}/in")
        assert (paper.status_code, paper.headers["x-robots-tag"]) == (200, "noindex")
        assert f'href="{link}"' in paper.text
        assert (await elsewhere.get(f"{link}/huy")).headers["location"] == link
        assert f'<form action="{link}/huy" method="post">' in (await elsewhere.get(link)).text
        form = {"nonce": "n" * 22}
        foreign = await elsewhere.post(f"{link}/huy", data=form, headers={"sec-fetch-site": "cross-site"})
        assert (foreign.status_code, await stock(world)) == (403, before - 2)
        answers = await asyncio.gather(*(elsewhere.post(f"{link}/huy", data=form) for _ in range(4)))
        assert {(each.status_code, each.headers["location"]) for each in answers} == {(303, link)}
        shown = (await elsewhere.get(link)).text
    assert ("Đã huỷ" in shown, "/huy" in shown, await stock(world)) == (True, False, before)


async def test_a_link_cancels_nothing_that_is_packed_and_nothing_of_an_account(
    world: World, api: httpx.AsyncClient, shopper: httpx.AsyncClient, person: Person
) -> None:
    await fill(api)
    told = (await order(api)).json()
    deed = Deed(account_id=str(uuid4()), address="127.0.0.1", nonce="n" * 22)
    await world.shop.move_order(told["id"], to="packed", by=deed)
    refused = await api.post(f"/api/v1/guest-orders/{told['follow'].rpartition('/')[2]}/cancel")
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_status")
    async with world.client(headers=BROWSER) as elsewhere:
        assert "/huy" not in (await elsewhere.get(told["follow"])).text
        assert (await elsewhere.post(f"{told['follow']}/huy")).status_code == 409
    forged = world.shop.guest_links.path(await accounts_order(shopper, person))
    assert (await shopper.post(f"{forged}/huy")).status_code == 404
    assert (await shopper.get(f"{forged}/in")).status_code == 404


async def test_a_program_cancels_by_the_link_as_often_as_it_likes(api: httpx.AsyncClient) -> None:
    await fill(api)
    token = (await order(api)).json()["follow"].rpartition("/")[2]
    first, again = [await api.post(f"/api/v1/guest-orders/{token}/cancel") for _ in range(2)]
    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    assert again.json() == first.json()


async def accounts_order(shopper: httpx.AsyncClient, person: Person) -> str:
    await fill(shopper)
    answer = await shopper.post(
        "/api/v1/orders",
        json={"shipping": SHIPPING, "payment": {"token": "cod"}, "expected_total": 70_000},
        headers={"Idempotency-Key": f"of {person.email}"},
    )
    return str(answer.json()["id"])


async def test_the_mail_of_a_guests_order_leads_to_its_link(world: World, api: httpx.AsyncClient) -> None:
    await fill(api)
    told = (await order(api)).json()
    with psycopg.connect(world.database_url.replace("+psycopg", "")) as connection:
        row = connection.execute(
            "SELECT fields ->> 'path' FROM outbox WHERE fields ->> 'number' = %s", [told["number"]]
        ).fetchone()
    assert row == (told["follow"],)


async def test_one_guests_form_sent_many_times_at_once_is_one_order(
    build_world: Build, redis_url: str
) -> None:
    """All of them come before the session has named the guest."""
    world = build_world(session_url=redis_url)
    async with world.client() as api:
        await fill(api)
        answers = await asyncio.gather(*(order(api) for _ in range(8)))
        again = await order(api)
        assert {answer.status_code for answer in answers} <= {201, 409}
        ids = {answer.json()["id"] for answer in [*answers, again] if answer.status_code == 201}
        assert len(ids) == 1
        assert again.status_code == 201
        token = again.json()["follow"].rpartition("/")[2]
        assert (await api.get(f"/api/v1/guest-orders/{token}")).json()["id"] in ids
        other = await order(api, "another")
        assert (other.status_code, other.json()["code"]) == (409, "cart_ordered")


async def test_two_guests_with_one_key_have_an_order_each(world: World) -> None:
    async with world.client() as first, world.client() as second:
        await fill(first)
        await fill(second)
        ids = [(await order(client, "my-first-order")).json()["id"] for client in (first, second)]
    assert len(set(ids)) == 2


async def test_a_later_account_of_that_e_mail_gets_nothing_without_the_link(
    world: World, api: httpx.AsyncClient
) -> None:
    await fill(api)
    told = (await order(api)).json()
    account = {"email": "vang-lai@khach.example", "password": "mat-khau-dai", "name": "Ánh"}
    async with world.client() as later:
        await later.post("/api/v1/accounts", json=account)
        await later.post("/api/v1/session", json={"email": account["email"], "password": account["password"]})
        assert (await later.get("/api/v1/orders")).json()["items"] == []
        assert (await later.get(f"/api/v1/orders/{told['id']}")).status_code == 404
        assert (await later.get(f"/don-hang/{told['id']}")).status_code == 404


async def test_a_guest_tells_an_e_mail_and_whoever_has_no_cart_is_sent_to_log_in(
    browser: httpx.AsyncClient,
) -> None:
    assert (await browser.get("/thanh-toan")).headers["location"] == "/dang-nhap?next=%2Fthanh-toan"
    assert (await order(browser)).json()["code"] == "login_needed"
    await fill(browser)
    for email in ("", "không phải", "a@b", "x" * 300 + "@khach.example"):
        page = await browser.post("/thanh-toan", data={**TYPED, "email": email, "expected_total": "70000"})
        assert page.status_code == 422, email
        assert 'value="12 Hàng Bạc"' in page.text


async def test_an_accounts_order_has_no_link(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    order_id = await accounts_order(shopper, person)
    assert "theo-doi" not in (await shopper.get(f"/don-hang/{order_id}")).text
    forged = world.shop.guest_links.path(order_id)
    assert (await shopper.get(forged)).status_code == 404
