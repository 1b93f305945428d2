"""The JSON API, call by call."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest
from pydantic import BaseModel

from app.web.api.models.accounts import AccountOut
from app.web.api.models.cart import CartOut
from app.web.api.models.orders import OrderOut, OrdersOut
from app.web.api.models.problems import ProblemOut
from app.web.api.models.products import ProductOut, ProductsOut
from app.web.api.models.sessions import DevicesOut, SessionOut
from tests.web.conftest import Person, World

ORDER = {
    "shipping": {"name": "Ánh", "phone": "0912 345 678", "address": "1 Phố Huế"},
    "payment": {"token": "cod"},
    "expected_total": 70_000,
}


def read(model: type[BaseModel], answer: httpx.Response) -> Any:
    """The answer, which must be exactly what the document promises."""
    assert answer.headers["content-type"] == "application/json"
    return model.model_validate_json(answer.content, strict=True)


async def test_a_program_registers_logs_in_orders_and_logs_out(api: httpx.AsyncClient) -> None:
    new = {"email": "May.Tinh@khach.example", "password": "mat-khau-dai", "name": "Máy Tính"}
    answer = await api.post("/api/v1/accounts", json=new)
    account = read(AccountOut, answer)
    assert (answer.status_code, account.name) == (201, "Máy Tính")
    assert read(SessionOut, await api.get("/api/v1/session")).account is None
    assert (await api.post("/api/v1/accounts", json=new)).json()["code"] == "email_taken"
    await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2})
    answer = await api.post("/api/v1/session", json={"email": new["email"], "password": new["password"]})
    assert read(SessionOut, answer).account == account
    assert read(SessionOut, await api.get("/api/v1/session")).account == account
    cart = read(CartOut, await api.get("/api/v1/cart"))
    assert (cart.count, cart.total, cart.currency) == (2, 70_000, "VND")
    answer = await api.post("/api/v1/orders", json=ORDER, headers={"idempotency-key": "k-1"})
    order = read(OrderOut, answer)
    assert (answer.status_code, order.total, order.status) == (201, 70_000, "confirmed")
    assert answer.headers["location"] == f"/api/v1/orders/{order.id}"
    again = await api.post("/api/v1/orders", json=ORDER, headers={"idempotency-key": "k-1"})
    assert (again.status_code, again.content) == (201, answer.content)
    assert read(CartOut, await api.get("/api/v1/cart")).count == 0
    assert read(OrderOut, await api.get(f"/api/v1/orders/{order.id}")) == order
    assert read(OrdersOut, await api.get("/api/v1/orders")).items == [order]
    devices = read(DevicesOut, await api.get("/api/v1/sessions"))
    assert [device.current for device in devices.items] == [True]
    assert (await api.delete("/api/v1/session")).status_code == 204
    assert not api.cookies
    assert read(SessionOut, await api.get("/api/v1/session")).account is None


async def test_the_catalogue_is_listed_searched_and_shown(api: httpx.AsyncClient) -> None:
    every = read(ProductsOut, await api.get("/api/v1/products?page_size=100"))
    assert every.total == len(every.items) >= 30
    page = read(ProductsOut, await api.get("/api/v1/products?page=2&page_size=5"))
    assert page.items == every.items[5:10]
    found = read(ProductsOut, await api.get("/api/v1/products?q=phin&category=ca-phe-tra"))
    assert "phin-nhom-ca-phe" in {product.slug for product in found.items}
    product = read(ProductOut, await api.get("/api/v1/products/phin-nhom-ca-phe"))
    assert (product.price, product.in_stock, product.degraded) == (35_000, True, [])
    assert [variant.sku for variant in product.variants] == ["PHIN-S", "PHIN-L"]
    assert (product.reviews, product.stock, product.recommendations) == (None, None, [])
    assert (await api.get("/api/v1/products/khong-co")).json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["/api/v1/products", "/api/v1/session", "/api/v1/cart"])
async def test_head_is_answered_as_get_is(api: httpx.AsyncClient, path: str) -> None:
    answers = [await api.request(method, path) for method in ("GET", "HEAD")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert len({answer.headers["content-length"] for answer in answers}) == 1


async def test_the_cart_is_added_to_set_and_emptied(api: httpx.AsyncClient) -> None:
    assert read(CartOut, await api.get("/api/v1/cart")).lines == []
    await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
    cart = read(CartOut, await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2}))
    assert [(line.sku, line.quantity, line.total) for line in cart.lines] == [("PHIN-S", 3, 105_000)]
    cart = read(CartOut, await api.put("/api/v1/cart/items/PHIN-L", json={"quantity": 1}))
    assert cart.count == 4
    cart = read(CartOut, await api.put("/api/v1/cart/items/PHIN-L", json={"quantity": 0}))
    assert cart.count == 3
    cart = read(CartOut, await api.delete("/api/v1/cart/items/PHIN-S"))
    assert cart.lines == []
    assert (await api.delete("/api/v1/cart/items/PHIN-S")).status_code == 200
    assert (await api.post("/api/v1/cart/items", json={"sku": "NONE", "quantity": 1})).status_code == 404


async def test_what_needs_an_account_says_so_before_it_judges_the_body(api: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/api/v1/orders"),
        ("GET", "/api/v1/orders/x"),
        ("POST", "/api/v1/orders"),
        ("GET", "/api/v1/sessions"),
        ("DELETE", "/api/v1/sessions"),
        ("DELETE", "/api/v1/sessions/x"),
    ):
        answer = await api.request(method, path, json={})
        assert (answer.status_code, answer.json()["code"]) == (401, "login_needed"), path


async def test_an_order_is_refused_for_reasons_that_have_codes(
    api: httpx.AsyncClient, person: Person
) -> None:
    await api.post("/api/v1/session", json=person.credentials)

    async def refused(key: str = "k", **change: object) -> tuple[int, str]:
        answer = await api.post("/api/v1/orders", json={**ORDER, **change}, headers={"idempotency-key": key})
        return answer.status_code, answer.json()["code"]

    assert await refused() == (409, "cart_empty")
    await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2})
    assert await refused(expected_total=1) == (409, "total_changed")
    assert await refused(payment={"token": "tok_ok"}) == (402, "payment_refused")
    assert await refused(shipping={**ORDER["shipping"], "phone": "1"}) == (422, "invalid")  # type: ignore[dict-item]  # a dict
    for key in ("", "é", "k" * 201):
        assert await refused(key.encode()) == (422, "invalid")  # type: ignore[arg-type]  # raw bytes
    order = (await api.post("/api/v1/orders", json=ORDER, headers={"idempotency-key": "k"})).json()
    assert order["total"] == 70_000
    assert await refused(shipping={**ORDER["shipping"], "name": "Khác"}) == (422, "key_reused")  # type: ignore[dict-item]  # a dict
    answer = await api.post("/api/v1/orders", json=ORDER, headers={"idempotency-key": "other"})
    assert (answer.status_code, answer.json()["code"]) == (409, "cart_ordered")
    assert answer.json()["order_id"] == order["id"]


async def test_devices_are_revoked_one_the_others_or_all(world: World, person: Person) -> None:
    clients = [world.client() for _ in range(3)]
    for client in clients:
        await client.post("/api/v1/session", json=person.credentials)

    async def logged_in() -> list[bool]:
        return [(await client.get("/api/v1/session")).json()["account"] is not None for client in clients]

    items = (await clients[0].get("/api/v1/sessions")).json()["items"]
    assert len(items) == 3
    handle = next(item["handle"] for item in items if not item["current"])
    assert (await clients[0].delete(f"/api/v1/sessions/{handle}")).status_code == 204
    assert (await logged_in()).count(True) == 2
    assert (await clients[0].delete(f"/api/v1/sessions/{handle}")).status_code == 404
    assert (await clients[0].delete("/api/v1/sessions?all=maybe")).status_code == 422
    assert (await clients[0].delete("/api/v1/sessions")).status_code == 204
    assert await logged_in() == [True, False, False]
    await clients[1].post("/api/v1/session", json=person.credentials)
    assert (await clients[1].delete("/api/v1/sessions?all=true")).status_code == 204
    assert await logged_in() == [False, False, False]
    for client in clients:
        await client.aclose()


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=1_0", "page=１", "page=1.0", "page=", "page_size=101"]
)
async def test_a_page_number_is_a_number(api: httpx.AsyncClient, query: str) -> None:
    answer = await api.get(f"/api/v1/products?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


async def test_a_fault_names_its_field_and_never_repeats_the_input(api: httpx.AsyncClient) -> None:
    body = {"email": "secret-a", "password": "secret-b", "name": "secret-c", "admin": "secret-d"}
    answer = await api.post("/api/v1/accounts", json=body)
    problem = ProblemOut.model_validate_json(answer.content, strict=True)
    assert [(fault.field, fault.code) for fault in problem.errors] == [("admin", "unknown_field")]
    assert "secret" not in answer.text
    answer = await api.post("/api/v1/accounts", json={"email": "x", "password": "mat-khau-dai", "name": "A"})
    assert [(e["field"], e["code"]) for e in answer.json()["errors"]] == [("email", "email_invalid")]


async def test_the_document_describes_every_call_and_its_page_shows_them(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    calls = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert {("get", "/api/v1/cart"), ("get", "/api/v1/session"), ("post", "/api/v1/orders")} <= calls
    assert not [path for path in document["paths"] if not path.startswith("/api/v1")]
    assert "HTTPValidationError" not in orjson.dumps(document).decode()
    page = (await api.get("/docs")).text
    for method, path in calls:
        assert f"<b>{method.upper()}</b> {path}" in page
    assert "cart_limit" in page
    assert "quantity: integer" in page
