"""Orders at the desk: found among everybody's, and taken to their next step once."""

from __future__ import annotations

import re
import secrets

import httpx
import pytest
from sqlalchemy import text

from tests.web.conftest import BROWSER, World
from tests.web.desk.browsers import browser_of, form
from tests.web.desk.test_desk import with_variant
from tests.web.test_pages import ADDRESS, Page, hidden


async def stocked(owner: httpx.AsyncClient) -> str:
    """The SKU of something that can be bought."""
    _, sku = await with_variant(owner)
    stock = f"/quan-tri/kho/{sku}"
    fields = form((await owner.get(stock)).text, "move")
    await owner.post(stock, data={**fields, "quantity": "9", "reason": "received", "note": ""})
    return sku


async def ordered(world: World, sku: str) -> str:
    """The path of somebody's new order of it at the desk."""
    async with browser_of(world, "customer") as shopper:
        await shopper.post("/gio-hang/them", data={"sku": sku, "quantity": "2"})
        page = (await shopper.get("/thanh-toan")).text
        answer = await shopper.post("/thanh-toan", data={**hidden(page), **ADDRESS})
        assert answer.status_code == 303, answer.text
        return "/quan-tri" + str(answer.headers["location"]).partition("?")[0]


async def step(owner: httpx.AsyncClient, path: str, to: str, **more: str) -> httpx.Response:
    fields = {"nonce": secrets.token_urlsafe(16), "do": "move", "note": "", **more}
    return await owner.post(path, data={**fields, "to": to})


async def left(owner: httpx.AsyncClient, sku: str, number: int) -> bool:
    return f"còn {number}" in (await owner.get(f"/quan-tri/kho/{sku}")).text


async def test_an_order_is_found_packed_shipped_and_delivered(world: World, owner: httpx.AsyncClient) -> None:
    sku = await stocked(owner)
    path = await ordered(world, sku)
    listed = (await owner.get("/quan-tri/don-hang?status=confirmed")).text
    assert path in listed
    shown = (await owner.get(path)).text
    Page(shown)
    number = shown.split("<h1>Đơn hàng ")[1].split("<")[0]
    found = (await owner.get(f"/quan-tri/don-hang?number={number}")).text
    assert found.count("/quan-tri/don-hang/") == 1
    for to in ("packed", "shipped", "delivered"):
        assert (await step(owner, path, to, note="gói kỹ")).status_code == 303, to
    shown = (await owner.get(path)).text
    assert "gói kỹ" in shown
    assert shown.count("<li><time") == 4
    assert path not in (await owner.get("/quan-tri/don-hang?status=confirmed")).text
    assert path.rpartition("/")[2] in (await owner.get("/quan-tri/nhat-ky?action=order.move")).text


async def test_a_cancelled_order_gives_its_goods_back_once(world: World, owner: httpx.AsyncClient) -> None:
    sku = await stocked(owner)
    path = await ordered(world, sku)
    assert await left(owner, sku, 7)
    nonce = secrets.token_urlsafe(16)
    for _ in range(3):
        assert (await step(owner, path, "cancelled", nonce=nonce)).status_code == 303
    assert await left(owner, sku, 9)
    answer = await step(owner, path, "shipped")
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


async def test_an_order_leads_to_its_customer_as_long_as_there_is_one(
    world: World, owner: httpx.AsyncClient
) -> None:
    path = await ordered(world, await stocked(owner))
    link = re.search(r'href="(/quan-tri/tai-khoan/[^"]+)"', (await owner.get(path)).text)
    assert link
    assert (await owner.get(link[1])).status_code == 200
    erased = text("UPDATE accounts SET erased_at = now() WHERE id::text = :id")
    await world.database.maintain(erased.bindparams(id=link[1].rpartition("/")[2]))
    shown = await owner.get(path)
    assert (shown.status_code, "đã xóa tài khoản" in shown.text) == (200, True)
    assert "/quan-tri/tai-khoan/" not in shown.text
    assert (await owner.get(link[1])).status_code == 404


async def test_no_form_does_anything_that_is_not_in_the_log(world: World, owner: httpx.AsyncClient) -> None:
    path = await ordered(world, await stocked(owner))
    log = f"/quan-tri/nhat-ky?subject={path.rpartition('/')[2]}"
    nonce = secrets.token_urlsafe(16)
    refused = await step(owner, path, "delivered", nonce=nonce)
    assert refused.status_code == 409
    assert form(refused.text, "move")["nonce"] != nonce
    assert "order.move" not in (await owner.get(log)).text
    assert (await step(owner, path, "packed", nonce=nonce)).status_code == 303
    again = await step(owner, path, "cancelled", nonce=nonce)
    assert (again.status_code, again.headers["location"].partition("?")[0]) == (303, path)
    shown = (await owner.get(path)).text
    assert shown.count("<li><time") == 2
    assert (await owner.get(log)).text.count("order.move") == 1


@pytest.mark.parametrize(
    "query", ["?number=x", "?status=stolen", "?since=yesterday", "?before=x", "?number=٣"]
)
async def test_a_filter_that_cannot_be_is_told(owner: httpx.AsyncClient, query: str) -> None:
    assert (await owner.get(f"/quan-tri/don-hang{query}")).status_code == 422


async def test_pages_of_orders_lead_from_one_to_the_next(world: World, owner: httpx.AsyncClient) -> None:
    await world.database.maintain(
        text(
            "WITH new AS (INSERT INTO orders (id, cart_id, status, payment, shipping, total, placed_at, guest)"
            " SELECT gen_random_uuid(), 'page ' || n, 'delivered', 'cod',"
            ' \'{"name": "A", "phone": "0", "address": "x"}\', 1000, now() - n * interval \'1 minute\', \'g\''
            " FROM generate_series(1, 60) AS n RETURNING id)"
            " INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price)"
            " SELECT id, 0, 'A', 'A', 1, 1000 FROM new"
        )
    )
    first = (await owner.get("/quan-tri/don-hang?status=delivered")).text
    older = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = (await owner.get(older)).text
    places = [page.split('<a href="/quan-tri/don-hang/')[1:] for page in (first, second)]
    assert len(places[0]) == 50
    assert 10 <= len(places[1]) <= 50
    assert not {each[:36] for each in places[0]} & {each[:36] for each in places[1]}


async def test_nobody_else_sees_or_moves_orders(world: World, owner: httpx.AsyncClient) -> None:
    path = await ordered(world, await stocked(owner))
    async with browser_of(world, "customer") as browser:
        assert (await browser.get(path)).status_code == 403
        assert (await step(browser, path, "cancelled")).status_code == 403
    async with world.client(headers=BROWSER) as visitor:
        assert (await visitor.get("/quan-tri/don-hang")).status_code == 303
    for path in ("/quan-tri/don-hang/x", "/quan-tri/don-hang/00000000-0000-4000-8000-000000000000"):
        assert (await owner.get(path)).status_code == 404
