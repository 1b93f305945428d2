"""Own orders on pages and in the API: their states, filters, days, paper and end."""

from __future__ import annotations

import html
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from sqlalchemy import text

from app.shop.desk.audit import Deed
from app.stores.database import Database, DatabaseConfig
from tests.web.conftest import BROWSER, Build, Person, World
from tests.web.test_pages import ADDRESS, hidden


async def placed(shopper: httpx.AsyncClient, sku: str = "PHIN-S", quantity: int = 1) -> str:
    """The id of a new order."""
    await shopper.post("/gio-hang/them", data={"sku": sku, "quantity": str(quantity)})
    page = (await shopper.get("/thanh-toan")).text
    answer = await shopper.post("/thanh-toan", data={**hidden(page), **ADDRESS})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2].partition("?")[0]


async def stock(world: World, sku: str = "PHIN-S") -> int:
    found = await world.shop.catalog.offers([sku])
    return found[sku].stock


def run(world: World, statement: str, *values: Any) -> None:
    """What an owner or an earlier version did."""
    with psycopg.connect(world.database_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement.encode(), values)


async def test_a_customer_cancels_before_it_is_packed_and_the_goods_are_back(
    world: World, shopper: httpx.AsyncClient
) -> None:
    before = await stock(world)
    order_id = await placed(shopper, quantity=2)
    assert await stock(world) == before - 2
    page = await shopper.get(f"/don-hang/{order_id}")
    form = hidden(page.text, f"/don-hang/{order_id}/huy")
    for _ in range(2):  # sent twice is done once
        answer = await shopper.post(f"/don-hang/{order_id}/huy", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/don-hang/{order_id}")
    page = await shopper.get(f"/don-hang/{order_id}")
    assert "Đã huỷ" in page.text
    assert "Huỷ đơn hàng" not in page.text
    assert await stock(world) == before
    assert [event.after for event in await world.shop.orders.history(order_id)] == ["confirmed", "cancelled"]


async def test_the_api_cancels_once_and_says_why_not(world: World, shopper: httpx.AsyncClient) -> None:
    order_id, other = await placed(shopper), await placed(shopper)
    answer = await shopper.post(f"/api/v1/orders/{order_id}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert (await shopper.post(f"/api/v1/orders/{order_id}/cancel")).json() == answer.json()
    deed = Deed(account_id=str(uuid4()), address="127.0.0.1", nonce="n" * 22)
    await world.shop.move_order(other, to="packed", by=deed, note="kệ 3")
    before = await stock(world)
    answer = await shopper.post(f"/api/v1/orders/{other}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_status")
    assert (answer.json()["status"], answer.json()["order_status"]) == (409, "packed")
    assert await stock(world) == before
    assert (await shopper.get(f"/don-hang/{other}/huy")).headers["location"] == f"/don-hang/{other}"


async def test_nobody_cancels_or_prints_a_foreign_order(world: World, shopper: httpx.AsyncClient) -> None:
    order_id = await placed(shopper)
    async with world.client(headers=BROWSER) as stranger:
        account = {"name": "X", "email": f"{order_id}@khach.example", "password": "mat-khau-dai"}
        await stranger.post("/dang-ky", data=account)
        assert (await stranger.post(f"/api/v1/orders/{order_id}/cancel")).status_code == 404
        assert (await stranger.post(f"/don-hang/{order_id}/huy", data={})).status_code == 404
        assert (await stranger.get(f"/don-hang/{order_id}/in")).status_code == 404
    assert (await shopper.get(f"/api/v1/orders/{order_id}")).json()["status"] == "confirmed"


async def test_a_list_is_narrowed_by_status_and_by_vietnams_days(
    world: World, shopper: httpx.AsyncClient
) -> None:
    """An order of 17:30 UTC belongs to the next day, on the page, in the list and in the filter."""
    late, cancelled = await placed(shopper), await placed(shopper)
    await shopper.post(f"/api/v1/orders/{cancelled}/cancel")
    run(
        world,
        "UPDATE orders SET placed_at = %s WHERE id = %s",
        datetime(2026, 1, 31, 17, 30, tzinfo=UTC),
        late,
    )
    assert "00:30 01/02/2026" in (await shopper.get(f"/don-hang/{late}")).text
    assert "260201-" in (await shopper.get(f"/don-hang/{late}")).text

    async def listed(**asked: str) -> list[str]:
        page = await shopper.get("/don-hang", params=asked)
        answer = await shopper.get("/api/v1/orders", params=asked)
        found = [item["id"] for item in answer.json()["items"]]
        assert [f"/don-hang/{order_id}" in page.text for order_id in (late, cancelled)] == [
            order_id in found for order_id in (late, cancelled)
        ]
        return found

    assert await listed() == [cancelled, late]
    assert await listed(status="cancelled") == [cancelled]
    assert await listed(since="2026-02-01", until="2026-02-01") == [late]
    assert await listed(until="2026-01-31") == []
    assert await listed(since="2026-02-02") == [cancelled]
    assert await listed(status="confirmed", since="2026-01-01", until="2026-12-31") == [late]
    assert "Không có đơn hàng nào như vậy" in (await shopper.get("/don-hang?status=refunded")).text


@pytest.mark.parametrize(
    "query",
    [
        "since=2026-13-01",
        "since=hôm+nay",
        "until=9999-12-31",
        "until=0001-01-01",
        "since=20260101",
        "since=2026-W01-1",
        "since=%00",
        "status=placed",
        "status=x%00",
        "page=0x1",
    ],
)
async def test_a_filter_that_cannot_be_is_told(shopper: httpx.AsyncClient, query: str) -> None:
    page = await shopper.get(f"/don-hang?{query}", headers=BROWSER)
    assert page.status_code == 422
    assert page.text.count('role="alert"') == 1
    assert 'href="/don-hang?page=1"' in page.text
    assert 'action="/don-hang"' in page.text
    assert (await shopper.get(f"/api/v1/orders?{query}")).status_code == 422


async def test_pages_of_a_narrowed_list_stay_narrowed(world: World, shopper: httpx.AsyncClient) -> None:
    order_id = await placed(shopper)
    for number in range(21):
        run(
            world,
            "WITH made AS (INSERT INTO orders (id, account_id, cart_id, status, payment, shipping, total, placed_at)"
            " SELECT gen_random_uuid(), account_id, %s, 'placed', payment, shipping, total, %s FROM orders"
            " WHERE id = %s RETURNING id)"
            " INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price)"
            " SELECT id, 0, 'PHIN-S', 'Phin', 1, 35000 FROM made",
            f"cart of {order_id} {number}",
            datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=number),
            order_id,
        )
    asked = "/don-hang?status=confirmed&since=2026-03-01&until=2026-03-31"
    page = html.unescape((await shopper.get(asked)).text)
    assert page.count('<li><a href="/don-hang/') == 20
    assert f"{asked}&page=2" in page
    assert (await shopper.get(f"{asked}&page=2")).text.count('<li><a href="/don-hang/') == 1


async def test_an_order_is_printed_on_a_sheet_of_its_own(shopper: httpx.AsyncClient) -> None:
    order_id = await placed(shopper, quantity=2)
    page = await shopper.get(f"/don-hang/{order_id}")
    assert f"/don-hang/{order_id}/in" in page.text
    sheet = await shopper.get(f"/don-hang/{order_id}/in")
    assert sheet.status_code == 200
    assert "70.000\u00a0₫" in sheet.text
    assert "<form" not in sheet.text
    assert "Nguyễn Thị Ánh" not in sheet.text, "who looks at it does not belong onto it"
    assert sheet.headers["cache-control"] == "private, no-store"


async def test_what_an_older_version_called_placed_is_confirmed(
    world: World, shopper: httpx.AsyncClient
) -> None:
    order_id = await placed(shopper)
    run(world, "UPDATE orders SET status = 'placed', subtotal = NULL WHERE id = %s", order_id)
    answer = (await shopper.get(f"/api/v1/orders/{order_id}")).json()
    assert (answer["status"], answer["subtotal"], answer["total"]) == ("confirmed", 35_000, 35_000)
    assert (await shopper.get("/api/v1/orders?status=confirmed")).json()["total"] == 1
    assert (await shopper.post(f"/api/v1/orders/{order_id}/cancel")).json()["status"] == "cancelled"


async def test_a_price_that_moved_after_the_page_is_shown_old_and_new_and_asked_for_again(
    build_world: Build, person: Person
) -> None:
    world = build_world()
    async with world.client(headers=BROWSER) as shopper:
        await shopper.post("/dang-nhap", data=person.credentials)
        for sku in ("NON-HUE", "PHIN-L"):
            await shopper.post("/gio-hang/them", data={"sku": sku, "quantity": "1"})
        page = (await shopper.get("/thanh-toan")).text
        form = {name: html.unescape(value) for name, value in hidden(page).items()}
        assert set(json.loads(form["seen"])) == {"NON-HUE", "PHIN-L"}
        try:
            # One dearer, the other cheaper by as much: the total says nothing.
            run(world, "UPDATE variants SET price = price + 1000 WHERE sku = 'NON-HUE'")
            run(world, "UPDATE variants SET price = price - 1000 WHERE sku = 'PHIN-L'")
            answer = await shopper.post("/thanh-toan", data={**form, **ADDRESS})
            assert answer.status_code == 409
            assert "→" in answer.text
            again = {name: html.unescape(value) for name, value in hidden(answer.text).items()}
            assert again["expected_total"] == form["expected_total"]
            assert (await shopper.get("/api/v1/orders")).json()["total"] == 0
            order = await shopper.post("/thanh-toan", data={**again, **ADDRESS})
            assert order.status_code == 303
        finally:
            run(world, "UPDATE variants SET price = price - 1000 WHERE sku = 'NON-HUE'")
            run(world, "UPDATE variants SET price = price + 1000 WHERE sku = 'PHIN-L'")


@pytest.mark.parametrize("how", ["hidden", "deleted"])
async def test_with_a_product_that_is_gone_in_the_cart_every_page_works_and_says_so(
    world: World, shopper: httpx.AsyncClient, how: str
) -> None:
    sku = f"GONE-{how}"
    run(
        world,
        "WITH made AS (INSERT INTO products (slug, name, description, category_id, search)"
        " SELECT %s, 'Hàng sắp hết bán', '', min(id), '' FROM categories RETURNING id)"
        " INSERT INTO variants (sku, product_id, position, name, price, stock)"
        " SELECT %s, id, 0, '', 9000, 5 FROM made",
        sku.lower(),
        sku,
    )
    await shopper.post("/gio-hang/them", data={"sku": sku, "quantity": "1"})
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    form = {
        name: html.unescape(value) for name, value in hidden((await shopper.get("/thanh-toan")).text).items()
    }
    if how == "hidden":
        run(world, "UPDATE products SET visible = false WHERE slug = %s", sku.lower())
    else:
        run(world, "DELETE FROM variants WHERE sku = %s", sku)
        run(world, "DELETE FROM products WHERE slug = %s", sku.lower())
    answer = await shopper.post("/thanh-toan", data={**form, **ADDRESS})
    assert answer.status_code == 409
    assert "không còn bán" in answer.text
    for path in ("/", "/gio-hang", "/thanh-toan", "/don-hang", "/tai-khoan", "/api/v1/cart", "/tim-kiem"):
        assert (await shopper.get(path)).status_code == 200, path
    assert "không còn bán" in (await shopper.get("/gio-hang")).text
    assert (await shopper.get("/api/v1/cart")).json()["gone"] == [sku]
    order_id = await placed(shopper)
    order = (await shopper.get(f"/api/v1/orders/{order_id}")).json()
    assert [line["sku"] for line in order["lines"]] == ["PHIN-S"]
    run(world, "DELETE FROM variants WHERE sku = %s", sku)


async def test_a_shop_without_an_acquirer_offers_payment_on_delivery_alone(
    shopper: httpx.AsyncClient,
) -> None:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    page = await shopper.get("/thanh-toan")
    assert page.text.count('name="payment"') == 1
    forged = await shopper.post("/api/v1/webhooks/payments", content=b"{}")
    assert (forged.status_code, forged.json()["code"]) == (401, "webhook_refused")
    hint = {"merchant_reference": "không phải đơn nào"}
    assert (await shopper.post("/thanh-toan/ket-qua", data=hint)).headers["location"].startswith("/don-hang/")
    assert (await shopper.get("/thanh-toan/ket-qua")).headers["location"] == "/don-hang"


async def test_an_order_and_its_mail_are_kept_together(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    order_id = await placed(shopper)
    await shopper.post(f"/api/v1/orders/{order_id}/cancel")
    database = Database(DatabaseConfig(url=world.database_url, pool_size=1))
    rows = await database.rows(
        text(
            "SELECT kind, fields->>'path' AS path FROM outbox WHERE recipient = :who ORDER BY created_at, kind DESC"
        ).bindparams(who=person.email)
    )
    await database.close()
    told = [(row.kind, row.path) for row in rows if row.kind.startswith("order_")]
    assert sorted(told) == [
        ("order_cancelled", f"/don-hang/{order_id}"),
        ("order_confirmed", f"/don-hang/{order_id}"),
    ]
