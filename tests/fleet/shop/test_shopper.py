"""What a shopper may rely on while two replicas serve them in turn, through HAProxy."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import httpx
import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url

from tests.fleet.shopping import PASSWORD, SHIPPING, add, in_stock, order, ordered, registered

pytestmark = [pytest.mark.fleet, pytest.mark.anyio]


@pytest.fixture
async def browser(shop_fleet: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
    """One cookie jar that talks to HAProxy."""
    async with httpx.AsyncClient(base_url=shop_fleet["url"], timeout=20) as client:
        yield client


async def together(calls: int, call: Callable[[int], Awaitable[httpx.Response]]) -> list[httpx.Response]:
    return list(await asyncio.gather(*(call(number) for number in range(calls))))


async def seen_by(bot: aiohttp.ClientSession, url: str) -> tuple[int, Mapping[str, str]]:
    async with bot.get(url) as answer:
        await answer.read()
        return answer.status, answer.headers


async def test_account_and_cart_never_waver_between_replicas(browser: httpx.AsyncClient) -> None:
    email = await registered(browser)
    sku = await in_stock(browser, least=3)
    assert (await add(browser, sku, 2)).status_code in {200, 201}
    served = set()
    for _ in range(10):
        cart = await browser.get("/api/v1/cart")
        who = await browser.get("/api/v1/session")
        assert [(line["sku"], line["quantity"]) for line in cart.json()["lines"]] == [(sku, 2)]
        assert who.json()["account"]["email"] == email
        served |= {cart.headers["x-served-by"], who.headers["x-served-by"]}
    assert len(served) == 2


async def test_a_session_is_a_namespaced_key_that_expires(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    await registered(browser)
    with redis.Redis.from_url(shop_fleet["redis"]["url"], decode_responses=True) as client:
        keys = list(client.scan_iter("chopho:session:sessions:*"))
        assert keys
        assert all(re.fullmatch(r"chopho:session:sessions:[0-9a-f]{64}", key) for key in keys)
        assert all(0 < client.ttl(key) <= 1800 for key in keys)
        assert all(client.ttl(key) != -1 for key in client.scan_iter("*"))


async def test_visitors_bots_and_probes_leave_nothing_behind(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    product = (await browser.get("/api/v1/products")).json()["items"][0]["slug"]
    paths = (
        "/",
        f"/san-pham/{product}",
        "/tim-kiem?q=tra",
        "/gio-hang",
        "/favicon.ico",
        "/khong-co",
        "/api/v1/cart",
    )
    replica = shop_fleet["replicas"][0]["url"]
    probes = (f"{replica}/health/liveness", f"{replica}/health/readiness")
    with redis.Redis.from_url(shop_fleet["redis"]["url"]) as client:
        before = set(client.scan_iter())
        urls = [*(f"{shop_fleet['url']}{path}" for path in paths * 6), *(probes * 4)]
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as bot:
            for _ in range(2000 // len(urls)):
                answers = await asyncio.gather(*(seen_by(bot, url) for url in urls))
                assert not any("set-cookie" in headers for _, headers in answers)
                assert all(status < 500 for status, _ in answers)
        left = set(client.scan_iter()) - before
        # Of a product somebody looks at, what its services said is kept: once, and for nobody in particular.
        assert {key for key in left if not key.startswith(b"chopho:copies:")} == set()


async def test_a_cart_is_on_every_device_and_survives_an_emptied_redis(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    email = await registered(browser)
    sku = await in_stock(browser, least=5)
    await add(browser, sku, 2)
    async with httpx.AsyncClient(base_url=shop_fleet["url"], timeout=20) as laptop:
        await add(laptop, sku, 1)
        await laptop.post("/api/v1/session", json={"email": email, "password": PASSWORD})
        assert (await laptop.get("/api/v1/cart")).json()["count"] == 3
    with redis.Redis.from_url(shop_fleet["redis"]["url"]) as client:
        client.flushall()
    assert (await browser.get("/api/v1/session")).json() == {"account": None}
    await browser.post("/api/v1/session", json={"email": email, "password": PASSWORD})
    for _ in range(4):
        cart = (await browser.get("/api/v1/cart")).json()
        assert [(line["sku"], line["quantity"]) for line in cart["lines"]] == [(sku, 3)]


async def test_parallel_adds_of_one_sku_all_count(browser: httpx.AsyncClient) -> None:
    await registered(browser)
    sku = await in_stock(browser, least=90)
    answers = await together(40, lambda _: add(browser, sku))
    accepted = sum(answer.is_success for answer in answers)
    cart = (await browser.get("/api/v1/cart")).json()
    assert accepted == 40
    assert cart["count"] == accepted


async def test_parallel_adds_of_many_skus_all_count(browser: httpx.AsyncClient) -> None:
    await registered(browser)
    items = (await browser.get("/api/v1/products", params={"page_size": 50})).json()["items"]
    skus = []
    for item in items:
        product = (await browser.get(f"/api/v1/products/{item['slug']}")).json()
        skus += [variant["sku"] for variant in product["variants"] if variant["stock"] > 0]
    skus = skus[:20]
    answers = await together(20, lambda number: add(browser, skus[number]))
    assert all(answer.is_success for answer in answers)
    cart = (await browser.get("/api/v1/cart")).json()
    assert {line["sku"] for line in cart["lines"]} == set(skus)


async def test_one_key_sent_ten_times_at_once_is_one_order(browser: httpx.AsyncClient) -> None:
    await registered(browser)
    await add(browser, await in_stock(browser, least=20))
    key = secrets.token_hex()
    total = (await browser.get("/api/v1/cart")).json()["total"]
    answers = await together(10, lambda _: ordered(browser, key, total))
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert len(made) == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert all(answer.json()["code"] == "key_in_progress" for answer in answers if answer.status_code == 409)
    assert (await browser.get("/api/v1/orders")).json()["total"] == 1
    assert (await browser.get("/api/v1/cart")).json()["count"] == 0


async def test_one_cart_with_two_keys_is_one_order_and_a_refilled_cart_another(
    browser: httpx.AsyncClient,
) -> None:
    await registered(browser)
    sku = await in_stock(browser, least=20)
    await add(browser, sku)
    total = (await browser.get("/api/v1/cart")).json()["total"]
    answers = await together(2, lambda _: ordered(browser, secrets.token_hex(), total))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    made = next(answer.json()["id"] for answer in answers if answer.status_code == 201)
    refused = next(answer.json() for answer in answers if answer.status_code == 409)
    assert made in str(refused)
    await add(browser, sku)
    assert (await order(browser, secrets.token_hex())).status_code == 201
    assert (await browser.get("/api/v1/orders")).json()["total"] == 2


async def test_forty_buyers_of_the_last_five_units_make_five_orders(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    sku = await in_stock(browser, least=50)
    plain = make_url(shop_fleet["database"]["url"]).set(drivername="postgresql")
    buyers = [httpx.AsyncClient(base_url=shop_fleet["url"], timeout=30) for _ in range(40)]
    try:
        for buyer in buyers:
            await registered(buyer)
        assert all(
            answer.is_success for answer in await together(40, lambda number: add(buyers[number], sku))
        )
        with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as shop:
            shop.execute("UPDATE variants SET stock = 5 WHERE sku = %s", (sku,))
        answers = await together(40, lambda number: order(buyers[number], secrets.token_hex()))
        with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as shop:
            left = shop.execute("SELECT stock FROM variants WHERE sku = %s", (sku,)).fetchone()
            shop.execute("UPDATE variants SET stock = 200 WHERE sku = %s", (sku,))
        assert sum(answer.status_code == 201 for answer in answers) == 5
        assert {answer.json()["code"] for answer in answers if answer.status_code != 201} == {"out_of_stock"}
        assert left == (0,)
        kept = [(await buyer.get("/api/v1/cart")).json()["count"] for buyer in buyers]
        assert sorted(kept) == [0] * 5 + [1] * 35
    finally:
        for buyer in buyers:
            await buyer.aclose()


async def test_a_changed_price_is_shown_before_it_is_asked_for_again(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    await registered(browser)
    sku = await in_stock(browser, least=20)
    await add(browser, sku, 2)
    form = (await browser.get("/thanh-toan")).text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    plain = make_url(shop_fleet["database"]["url"]).set(drivername="postgresql")
    with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as shop:
        shop.execute("UPDATE variants SET price = price + 1000 WHERE sku = %s", (sku,))
    refused = await browser.post("/thanh-toan", data={**hidden, **SHIPPING, "payment": "cod"})
    assert refused.status_code == 409
    shown = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', refused.text))
    assert int(shown["expected_total"]) == int(hidden["expected_total"]) + 2000
    confirmed = await browser.post("/thanh-toan", data={**shown, **SHIPPING, "payment": "cod"})
    assert confirmed.status_code == 303
    assert (await browser.get("/api/v1/orders")).json()["items"][0]["total"] == int(shown["expected_total"])


async def test_a_product_that_is_no_longer_sold_does_not_hold_up_the_rest(
    browser: httpx.AsyncClient, shop_fleet: dict[str, Any]
) -> None:
    await registered(browser)
    kept = await in_stock(browser, least=20)
    gone = await in_stock(browser, least=20, besides=kept)
    await add(browser, kept)
    await add(browser, gone)
    hide = "UPDATE products SET visible = %s FROM variants WHERE product_id = products.id AND sku = %s"
    plain = make_url(shop_fleet["database"]["url"]).set(drivername="postgresql")
    with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as shop:
        shop.execute(hide, (False, gone))
        try:
            await asyncio.sleep(2.1)  # names and prices are at most 2 s old
            cart = (await browser.get("/api/v1/cart")).json()
            assert ([line["sku"] for line in cart["lines"]], cart["gone"]) == ([kept], [gone])
            made = await order(browser, secrets.token_hex())
            assert made.status_code == 201
            assert [line["sku"] for line in made.json()["lines"]] == [kept]
            for page in ("/gio-hang", "/thanh-toan", "/don-hang", "/"):
                assert (await browser.get(page, follow_redirects=True)).status_code == 200
        finally:
            shop.execute(hide, (True, gone))


async def test_head_has_no_body(browser: httpx.AsyncClient) -> None:
    answers = [await browser.head("/api/v1/products") for _ in range(3)]
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"")] * 3
    assert all(int(answer.headers["content-length"]) > 0 for answer in answers)
