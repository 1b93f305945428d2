"""What a shopper does, through HAProxy."""

from __future__ import annotations

import secrets

import httpx
import pytest

PASSWORD = "mật-khẩu-đủ-dài"
SHIPPING = {"name": "Nguyễn Thị Ánh", "phone": "0912345678", "address": "12 Hàng Bạc, Hà Nội"}


async def registered(browser: httpx.AsyncClient) -> str:
    """A new account, logged in; its e-mail."""
    email = f"{secrets.token_hex(8)}@chopho.example"
    account = {"email": email, "password": PASSWORD, "name": "Ánh"}
    assert (await browser.post("/api/v1/accounts", json=account)).status_code == 201
    logged_in = await browser.post("/api/v1/session", json={"email": email, "password": PASSWORD})
    assert logged_in.status_code == 200
    return email


async def in_stock(browser: httpx.AsyncClient, *, least: int, besides: str = "") -> str:
    """The SKU of a variant with at least that many units, of another product than the one besides."""
    page = (await browser.get("/api/v1/products", params={"page_size": 50})).json()
    for item in page["items"]:
        product = (await browser.get(f"/api/v1/products/{item['slug']}")).json()
        for variant in product["variants"]:
            if besides in [one["sku"] for one in product["variants"]]:
                break
            if variant["stock"] >= least:
                return str(variant["sku"])
    pytest.fail(f"no variant has {least} units")


async def order(browser: httpx.AsyncClient, key: str) -> httpx.Response:
    """Order the cart as it is now, on delivery."""
    total = (await browser.get("/api/v1/cart")).json()["total"]
    return await ordered(browser, key, total)


async def ordered(browser: httpx.AsyncClient, key: str, total: int) -> httpx.Response:
    return await browser.post(
        "/api/v1/orders",
        json={"shipping": SHIPPING, "payment": {"token": "cod"}, "expected_total": total},
        headers={"Idempotency-Key": key},
    )


async def add(browser: httpx.AsyncClient, sku: str, quantity: int = 1) -> httpx.Response:
    return await browser.post("/api/v1/cart/items", json={"sku": sku, "quantity": quantity})
