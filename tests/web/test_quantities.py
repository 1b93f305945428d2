"""Quantities: whole numbers that shops for people sell, and nothing that merely looks like one."""

from __future__ import annotations

import json

import httpx
import pytest

from app.shop.errors import Invalid
from app.web.forms import parsed, whole_number

NO_NUMBERS = [
    "",
    " ",
    "-5",
    "+3",
    "1.5",
    "3.0",
    "1_000",
    "１２",
    "٣",
    " 3",
    "3 ",
    "3\n",
    "0x10",
    "1e2",
    "abc",
    "9" * 22,
]
NO_JSON_NUMBERS = [
    "-5",
    "0",
    "1.5",
    "3.0",
    "1e0",
    "true",
    "null",
    '"3"',
    '"1_000"',
    '"１２"',
    '"٣"',
    '"+3"',
    '""',
    "[1]",
    "{}",
    "2147483648",
    "9223372036854775808",
    "9" * 22,
    "9" * 400,
]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=ascii)
def test_only_one_to_six_ascii_digits_are_a_number(text: str) -> None:
    with pytest.raises(Invalid):
        whole_number("quantity", text)


def test_a_field_that_came_twice_is_refused_when_it_is_asked_for() -> None:
    form = parsed(b"quantity=1&quantity=2&sku=A")
    assert form.text("sku") == "A"
    with pytest.raises(Invalid) as refused:
        form.quantity()
    assert refused.value.code == "repeated"


async def test_the_api_takes_json_integers_alone_and_changes_nothing_else(api: httpx.AsyncClient) -> None:
    await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2})
    before = (await api.get("/api/v1/cart")).json()
    for number in NO_JSON_NUMBERS:
        content = f'{{"sku": "PHIN-S", "quantity": {number}}}'
        headers = {"content-type": "application/json"}
        answer = await api.post("/api/v1/cart/items", content=content, headers=headers)
        assert answer.status_code == 422, number
        fault = answer.json()["errors"][0]
        assert (fault["field"], fault["code"]) == ("quantity", "quantity_invalid")
        assert fault["message"].startswith("Số lượng")
    for body in ({"sku": "PHIN-S"}, {"sku": "PHIN-S", "quantity": 1, "price": 1}, {"quantity": 1}):
        assert (await api.post("/api/v1/cart/items", json=body)).status_code == 422
    assert (await api.get("/api/v1/cart")).json() == before
    assert before["total"] == 70_000


async def test_a_negative_line_beside_a_positive_one_lowers_no_total(api: httpx.AsyncClient) -> None:
    await api.put("/api/v1/cart/items/PHIN-S", json={"quantity": 3})
    answer = await api.put("/api/v1/cart/items/PHIN-L", json={"quantity": -3})
    assert answer.status_code == 422
    assert (await api.get("/api/v1/cart")).json()["total"] == 105_000


async def test_a_line_at_its_limit_grows_no_further_and_says_so(api: httpx.AsyncClient) -> None:
    full = await api.put("/api/v1/cart/items/PHIN-S", json={"quantity": 99})
    assert full.json()["count"] == 99
    for quantity in (1, 100, 999_999):
        answer = await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": quantity})
        assert answer.status_code == 409
        assert answer.json() == {
            "type": "/docs#cart_limit",
            "title": "Conflict",
            "status": 409,
            "detail": "at most 99 of PHIN-S fit into the cart",
            "code": "cart_limit",
            "message": "Giỏ hàng chỉ nhận được nhiều nhất 99 cho món này.",
            "sku": "PHIN-S",
            "at_most": 99,
        }
    assert (await api.get("/api/v1/cart")).json()["count"] == 99


async def test_more_than_the_stock_is_refused_and_what_is_sold_out_says_so(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/v1/cart/items", json={"sku": "CF-ARA-500", "quantity": 3})
    assert (answer.status_code, answer.json()["at_most"]) == (409, 2)
    answer = await api.post("/api/v1/cart/items", json={"sku": "KD-LADUA", "quantity": 1})
    assert (answer.status_code, answer.json()["code"], answer.json()["left"]) == (409, "out_of_stock", 0)


async def test_the_forms_refuse_the_same_and_lose_nothing_that_was_typed(browser: httpx.AsyncClient) -> None:
    await browser.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "2"})
    before = (await browser.get("/api/v1/cart")).json()
    for text in [*NO_NUMBERS, "0"]:
        answer = await browser.post("/gio-hang/them", data={"sku": "PHIN-L", "quantity": text})
        assert answer.status_code == 422, ascii(text)
        assert "Số lượng phải là một số nguyên dương" in answer.text
        assert 'value="PHIN-L" required checked' in answer.text
        if text.strip():
            assert f'name="quantity" type="text" value="{text}"' in answer.text
    twice = await browser.post(
        "/gio-hang/them",
        content="sku=PHIN-L&quantity=1&quantity=5",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert twice.status_code == 422
    over = await browser.post("/gio-hang/sua", data={"sku": "PHIN-S", "quantity": "100"})
    assert over.status_code == 409
    assert "nhiều nhất 99" in over.text
    assert 'value="100" aria-invalid="true"' in over.text
    assert (await browser.get("/api/v1/cart")).json() == before


async def test_no_json_number_is_too_long_to_be_refused(api: httpx.AsyncClient) -> None:
    content = json.dumps({"shipping": {}, "payment": {}, "expected_total": 0})[:-2] + "9" * 5000 + "}"
    answer = await api.post(
        "/api/v1/cart/items", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
