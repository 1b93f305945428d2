"""What an order costs, on the page and in the API: whole đồng that are never other than shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.shop.pricing import Voucher
from app.stores.database import Database, DatabaseConfig
from app.stores.vouchers import SqlVouchers
from tests.web.conftest import World
from tests.web.test_orders import run

SHIPPING = {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc"}


@pytest.fixture
async def _voucher(world: World) -> None:
    """HAI-MUOI takes 20 % off, 5,000 đồng at most."""
    database = Database(DatabaseConfig(url=world.database_url))
    start = datetime.now(UTC) - timedelta(days=1)
    voucher = Voucher(code="HAI-MUOI", percent=20, at_most=5_000, minimum=50_000, starts_at=start)
    await SqlVouchers(database=database).add(voucher)
    await database.close()


with_voucher = pytest.mark.usefixtures("_voucher")


async def fill(client: httpx.AsyncClient, quantity: int = 2) -> None:
    await client.put("/api/v1/cart/items/PHIN-S", json={"quantity": quantity})


@with_voucher
async def test_a_quote_is_what_the_order_costs(shopper: httpx.AsyncClient) -> None:
    await fill(shopper)
    asked = {"province": "tp. hồ chí minh", "voucher": "hai-muoi"}
    quote = (await shopper.post("/api/v1/cart/quote", json=asked)).json()
    assert quote["province"] == "Hồ Chí Minh"
    assert (quote["subtotal"], quote["discount"], quote["shipping_fee"]) == (70_000, 5_000, 38_000)
    assert quote["total"] == 70_000 - 5_000 + 38_000
    assert quote["vat_included"] == sum(line["vat"] for line in quote["lines"]) + quote["shipping_vat"]
    answer = await shopper.post(
        "/api/v1/orders",
        json={
            "shipping": {**SHIPPING, "province": "Sài Gòn"},
            "payment": {"token": "cod"},
            "expected_total": quote["total"],
            "voucher": "HAI-MUOI",
        },
        headers={"Idempotency-Key": "with-all"},
    )
    assert answer.status_code == 201
    order = answer.json()
    for name in ("subtotal", "discount", "shipping_fee", "vat_included", "total"):
        assert order[name] == quote[name]
    assert order["shipping"]["province"] == "Hồ Chí Minh"
    for paper in ("", "/in"):
        assert "Hồ Chí Minh" in (await shopper.get(f"/don-hang/{order['id']}{paper}")).text


async def test_a_client_that_knows_no_province_orders_at_the_carts_total(shopper: httpx.AsyncClient) -> None:
    await fill(shopper)
    total = (await shopper.get("/api/v1/cart")).json()["total"]
    body = {"shipping": SHIPPING, "payment": {"token": "cod"}, "expected_total": total}
    answer = await shopper.post("/api/v1/orders", json=body, headers={"Idempotency-Key": "of-old"})
    assert answer.status_code == 201
    assert (answer.json()["total"], answer.json()["shipping_fee"]) == (total, 0)
    assert "trả cho bên vận chuyển" in (await shopper.get(f"/don-hang/{answer.json()['id']}")).text


@with_voucher
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"province": "Paris"}, "province_unknown"),
        ({"province": ""}, "province_unknown"),
        ({"voucher": "KHONG-CO"}, "voucher_unknown"),
        ({"voucher": "\0"}, "voucher_unknown"),
        ({"voucher": "HAI-MUOI"}, "voucher_minimum"),
    ],
)
async def test_what_is_not_good_is_refused_by_its_field(
    shopper: httpx.AsyncClient, asked: dict[str, str], code: str
) -> None:
    await fill(shopper, 1)
    answer = await shopper.post("/api/v1/cart/quote", json=asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == code


def expected_total(page: httpx.Response) -> str:
    found = re.search(r'name="expected_total" value="(\d+)"', page.text)
    assert found
    return found[1]


async def test_a_total_that_nobody_may_pay_is_said_to_be_too_large(
    world: World, shopper: httpx.AsyncClient
) -> None:
    """Ninety-nine of the dearest thing: each price is one of the shop, their sum is none."""
    run(world, "UPDATE variants SET price = 1000000000000 WHERE sku = 'PHIN-S'")
    try:
        await shopper.put("/api/v1/cart/items/PHIN-S", json={"quantity": 99})
        total = (await shopper.get("/api/v1/cart")).json()["total"]
        quote = await shopper.post("/api/v1/cart/quote", json={})
        body = {"shipping": SHIPPING, "payment": {"token": "cod"}, "expected_total": total}
        order = await shopper.post("/api/v1/orders", json=body, headers={"Idempotency-Key": "k" * 22})
        typed = {**SHIPPING, "payment": "cod", "nonce": "n" * 22, "expected_total": str(total)}
        page = await shopper.post("/thanh-toan", data=typed)
        shown = [(await shopper.get(path)).status_code for path in ("/gio-hang", "/thanh-toan")]
    finally:
        run(world, "UPDATE variants SET price = 35000 WHERE sku = 'PHIN-S'")
    for answer in (quote, order):
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "amount_large")
    assert (page.status_code, "lớn nhất là 1.000.000.000.000" in page.text) == (422, True)
    assert shown == [200, 200]


@with_voucher
async def test_the_page_shows_the_sums_before_it_asks_for_them(
    shopper: httpx.AsyncClient,
) -> None:
    await fill(shopper)
    page = await shopper.get("/thanh-toan")
    assert expected_total(page) == "70000"
    assert "Chưa tính phí giao hàng" in page.text
    typed = {**SHIPPING, "province": "ha-noi", "voucher": "hai-muoi", "payment": "cod", "nonce": "n" * 22}
    page = await shopper.post("/thanh-toan", data={**typed, "do": "quote"})
    assert page.status_code == 200
    assert expected_total(page) == "85000"
    assert 'value="ha-noi" selected' in page.text
    assert "20.000\u00a0₫" in page.text
    assert "Trong đó thuế GTGT" in page.text
    other = {**typed, "province": "ca-mau", "expected_total": "85000"}
    page = await shopper.post("/thanh-toan", data=other)
    assert page.status_code == 409
    assert "103.000\u00a0₫" in page.text
    assert expected_total(page) == "103000"
    placed = await shopper.post("/thanh-toan", data={**other, "expected_total": "103000"})
    assert placed.status_code == 303
    told = await shopper.get(placed.headers["location"])
    assert "Cà Mau" in told.text
    assert "−5.000\u00a0₫" in told.text


@with_voucher
async def test_a_form_with_a_wrong_voucher_or_no_province_loses_nothing_that_was_typed(
    shopper: httpx.AsyncClient,
) -> None:
    await fill(shopper)
    typed = {**SHIPPING, "payment": "cod", "nonce": "n" * 22, "expected_total": "70000"}
    for more, told in (
        ({"province": "", "voucher": ""}, "Chỗ này không được để trống."),
        ({"province": "ha-noi", "voucher": "SAI-MA"}, "Cửa hàng không có mã giảm giá này."),
        ({"province": "paris", "voucher": ""}, "Không có tỉnh, thành phố này."),
    ):
        for do in ("", "quote"):
            page = await shopper.post("/thanh-toan", data={**typed, **more, "do": do})
            assert page.status_code == 422
            assert told in page.text
            assert 'value="12 Hàng Bạc"' in page.text
    assert (await shopper.get("/api/v1/cart")).json()["total"] == 70_000


async def test_no_fraction_and_no_thousandfold_comes_of_how_an_amount_is_written(
    shopper: httpx.AsyncClient,
) -> None:
    await fill(shopper)
    typed = {**SHIPPING, "payment": "cod", "nonce": "n" * 22}
    for text in ("70.000", "70,000", "70000.0", "7e4", "-70000", "70", "7000000"):
        page = await shopper.post("/thanh-toan", data={**typed, "expected_total": text})
        assert page.status_code in {409, 422}, text
        assert expected_total(page) == "70000"
