"""Checkouts through real replicas that are killed, drained and stormed, with a real acquirer behind them."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from html import unescape

import httpx
import pytest

from app.clients.webhooks import SHOP_PATH, sign
from app.fleet.postgres import PostgresServer
from app.stores.migrations import migrate
from tests.conftest import free_port, wait_until
from tests.integration.checkout.conftest import admin_of
from tests.integration.checkout.street import PRICE, SHIPPING, Shopper, Street, hidden
from tests.integration.payments.conftest import FAULTS_TOKEN, SECRET, Keys, starter

STORMS = 8
"""Of five checkouts each; 40 of them are the 200 of the field's report."""


@pytest.fixture(scope="module")
def open_street(
    postgres_server: PostgresServer,
    lasting_redis_url: str,
    till_keys: Keys,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Street]:
    """Two replicas, and an acquirer that calls the first."""
    folder = till_keys.public.parent
    name, port = f"street_{secrets.token_hex(6)}", free_port()
    with admin_of(postgres_server) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    url = postgres_server.url(name)
    migrate(url)
    host = f"127.0.0.1:{port}"
    with starter(url, till_keys, tmp_path_factory.mktemp("street")) as start:
        acquirer = start(
            FAULTS_TOKEN=FAULTS_TOKEN,
            WEBHOOKS=f"shop=http://{host}{SHOP_PATH}",
            WEBHOOK_SECRETS=f"shop={SECRET}",
        )
        street = Street(url, lasting_redis_url, folder, host, acquirer)
        street.run("INSERT INTO categories (slug, name) VALUES ('ke', 'Kệ')")
        street.run(
            "WITH made AS (INSERT INTO products (slug, name, description, category_id, search)"
            " SELECT 'a', 'Hàng A', '', id, '' FROM categories RETURNING id)"
            " INSERT INTO variants (sku, product_id, position, name, price, stock)"
            " SELECT 'A', id, 0, '', %s, 100 FROM made",
            PRICE,
        )
        with street.replica(port, wait=False) as one, street.replica(wait=False) as other:
            street.replicas = [one, other]
            for replica in street.replicas:
                replica.wait_until_ready()
            yield street
    with admin_of(postgres_server) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def street(open_street: Street) -> Street:
    open_street.acquirer.client.delete("/faults", headers={"Authorization": f"Bearer {FAULTS_TOKEN}"})
    open_street.settled()
    open_street.reset()
    return open_street


@pytest.fixture
async def shopper(street: Street) -> AsyncIterator[Shopper]:
    async with street.shopper() as shopper:
        yield shopper


async def until_answered(shopper: Shopper, key: str, token: str = "tok_ok") -> httpx.Response:  # noqa: S107 -- a test card
    """As a program does: again with the same key, until it is told what became of it."""
    for _ in range(600):
        answer = await shopper.buy(token, key=key)
        if answer.status_code != 503 and answer.json().get("code") != "key_in_progress":
            return answer
        assert int(answer.headers["retry-after"]) >= 1
        await asyncio.sleep(0.1)
    pytest.fail("nobody ever knew")


@pytest.mark.parametrize("token", ["cod", "tok_ok"])
async def test_one_form_ten_times_at_once_is_one_order_that_every_answer_leads_to(
    street: Street, shopper: Shopper, token: str
) -> None:
    made = []
    for turn in range(2):  # the cart refilled and ordered again is another order
        await shopper.fill()
        page = (await shopper.get("/thanh-toan")).text
        form = {**hidden(page, "/thanh-toan"), **SHIPPING, "payment": token}
        answers = await asyncio.gather(
            *(
                shopper.client.post(shopper.url("/thanh-toan", street.replicas[tab % 2]), data=form)
                for tab in range(10)
            )
        )
        again = await shopper.client.post(shopper.url("/thanh-toan"), data=form)
        assert again.status_code == 303
        order = again.headers["location"].partition("?")[0]
        for answer in answers:
            led = answer.headers.get("location", "").partition("?")[0]
            assert (answer.status_code, led) in {(303, order), (409, "")}, answer.text
            assert led or 'href="/don-hang"' in answer.text
        assert len(street.statuses()) == turn + 1
        made.append(order)
        assert (await shopper.get(order)).status_code == 200
    assert len(set(made)) == 2
    assert (street.statuses(), street.stock()) == (["confirmed", "confirmed"], 98)
    assert street.held() == (2 if token == "tok_ok" else 0)


async def test_a_replica_killed_while_the_bank_thinks_leaves_one_order(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    street.acquirer.fault(endpoint="POST /v1/payments", latency_s=1.5, for_s=60)
    with street.replica() as doomed:
        buying = asyncio.create_task(shopper.buy(replica=doomed))
        await asyncio.to_thread(wait_until, lambda: street.statuses() == ["placing"], what="the order")
        doomed.kill()
        with pytest.raises(httpx.TransportError):
            await buying
    waiting = await shopper.buy()
    assert (waiting.status_code, waiting.json()["code"]) == (409, "key_in_progress")
    answer = await until_answered(shopper, "key")
    assert (answer.status_code, answer.json()["status"]) == (201, "confirmed")
    await asyncio.to_thread(street.settled)
    assert (street.statuses(), street.held(), street.stock()) == (["confirmed"], 1, 99)
    assert await shopper.cart() == 0


async def test_a_replica_told_to_stop_in_the_middle_with_too_little_grace_leaves_one_order(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    street.acquirer.fault(endpoint="POST /v1/payments", latency_s=4, for_s=60)
    with street.replica(SHUTDOWN_GRACE="1s") as leaving:
        buying = asyncio.create_task(shopper.buy(replica=leaving))
        await asyncio.to_thread(wait_until, lambda: street.statuses() == ["placing"], what="the order")
        leaving.process.send_signal(signal.SIGTERM)
        cut_off = await asyncio.gather(buying, return_exceptions=True)
        assert await asyncio.to_thread(leaving.process.wait, 30) is not None
    street.acquirer.fault(endpoint="POST /v1/payments", latency_s=0, for_s=1)
    assert not isinstance(cut_off[0], httpx.Response) or cut_off[0].status_code >= 500
    answer = await until_answered(shopper, "key")
    assert (answer.status_code, answer.json()["status"]) == (201, "confirmed")
    await asyncio.to_thread(street.settled)
    assert (street.statuses(), street.held(), street.stock()) == (["confirmed"], 1, 99)
    assert "Traceback" not in leaving.log.read_text()


async def test_a_session_that_ends_while_the_bank_thinks_leaves_a_whole_order_or_none(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    street.acquirer.fault(endpoint="POST /v1/payments", latency_s=1, for_s=60)
    account_id = str(street.run("SELECT id FROM accounts ORDER BY created_at DESC LIMIT 1")[0][0])
    buying = asyncio.create_task(shopper.buy())
    await asyncio.to_thread(wait_until, lambda: street.statuses() == ["placing"], what="the order")
    answer = await shopper.client.delete(shopper.url("/api/v1/sessions?all=true"))
    assert answer.status_code == 204
    answer = await buying
    await asyncio.to_thread(street.settled)
    orders = street.run("SELECT account_id::text, status FROM orders WHERE status <> 'failed'")
    assert (answer.status_code, len(orders)) in {(201, 1), (409, 0), (409, 1)}, answer.text
    assert set(orders) <= {(account_id, "confirmed")}
    assert (street.held(), street.stock()) == (len(orders), 100 - len(orders))


async def test_shoppers_who_leave_in_the_middle_leave_whole_orders_or_none(
    street: Street, shopper: Shopper
) -> None:
    street.reset(stock=1000)
    dice, quiet = random.Random(6), await asyncio.to_thread(in_flight, street)

    async def leave(shopper: Shopper, number: int) -> str:
        await shopper.fill()
        try:
            await shopper.buy(
                ("cod", "tok_ok")[number % 2],
                key=f"key-{number}",
                replica=street.replicas[number % 2],
                timeout_s=dice.uniform(0.01, 0.5),
            )
        except httpx.TimeoutException:
            return "left"
        return "stayed"

    async with AsyncExitStack() as stack:
        crowd = [await stack.enter_async_context(street.shopper()) for _ in range(5)]
        outcomes = [
            outcome
            for turn in range(STORMS)
            for outcome in await asyncio.gather(
                *(leave(each, 10 * turn + number) for number, each in enumerate(crowd))
            )
        ]
    assert "left" in outcomes
    await asyncio.to_thread(wait_until, lambda: in_flight(street) <= quiet, what="every request's end")
    await asyncio.to_thread(street.settled)
    statuses = street.statuses()
    assert set(statuses) <= {"confirmed"}
    assert street.stock() == 1000 - len(statuses)
    by_card = street.run("SELECT count(*) FROM orders WHERE payment = 'card' AND status = 'confirmed'")
    assert by_card == [(street.held(),)]
    assert street.run("SELECT count(*) FROM reservations") == [(0,)]
    told = street.run("SELECT count(*) FROM outbox WHERE kind = 'order_confirmed'")
    assert told == street.run("SELECT count(*) FROM order_events WHERE after = 'confirmed'")

    def nobody_holds() -> bool:
        return street.run(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
        ) == [(0,)]

    await asyncio.to_thread(wait_until, nobody_holds, what="the end of every transaction")
    for replica in street.replicas:
        assert "Traceback" not in replica.log.read_text()
        rows = (await shopper.get("/internal/compartments", replica=replica)).json()["compartments"]
        assert {row["name"]: row["in_use"] for row in rows if row["name"] == "payments"} == {"payments": 0}


def in_flight(street: Street) -> int:
    """Requests that the replicas still work on; nobody waits for them any more."""
    pages = [
        httpx.get(f"http://127.0.0.1:{replica.port}/metrics", trust_env=False).text
        for replica in street.replicas
    ]
    return sum(
        int(float(found))
        for page in pages
        for found in re.findall(r"^http_requests_in_flight (\S+)", page, re.MULTILINE)
    )


async def agree(shopper: Shopper, redirect_url: str, decision: str) -> dict[str, str]:
    """What the bank's page would post back to the shop."""
    answer = await shopper.client.post(
        redirect_url, data={"decision": decision}, headers={"host": httpx.URL(redirect_url).netloc.decode()}
    )
    assert answer.status_code == 200, answer.text
    return {
        name: unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text)
    }


async def test_a_shopper_who_comes_back_from_the_bank_has_an_order_and_an_empty_cart(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    answer = await shopper.buy("tok_redirect")
    order = answer.json()
    assert (answer.status_code, order["status"]) == (201, "awaiting_payment")
    assert (await shopper.cart(), street.stock()) == (1, 99)
    page = await shopper.get(f"/don-hang/{order['id']}")
    assert order["redirect_url"] in unescape(page.text)
    told = await agree(shopper, order["redirect_url"], "agree")
    async with httpx.AsyncClient(trust_env=False) as bank:  # a post of another site, without our cookie
        back = await bank.post(
            shopper.url("/thanh-toan/ket-qua", street.replicas[1]),
            data=told,
            headers={"host": street.host, "sec-fetch-site": "cross-site", "origin": "http://bank.example"},
        )
    assert (back.status_code, back.headers["location"]) == (303, f"/don-hang/{order['id']}")
    page = await shopper.get(back.headers["location"])
    assert "Đã xác nhận" in page.text
    assert await shopper.cart() == 0
    assert (street.statuses(), street.held(), street.stock()) == (["confirmed"], 1, 99)
    again = await shopper.buy("tok_redirect")
    assert again.content == answer.content, "the same key is answered the same"


async def test_a_shopper_who_never_comes_back_has_the_order_all_the_same(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    order = (await shopper.buy("tok_redirect")).json()
    await agree(shopper, order["redirect_url"], "agree")
    await asyncio.to_thread(wait_until, lambda: street.statuses() == ["confirmed"], what="the webhook")
    assert street.held() == 1


async def test_who_says_no_at_the_bank_keeps_the_cart_and_may_pay_otherwise(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    order = (await shopper.buy("tok_redirect")).json()
    told = await agree(shopper, order["redirect_url"], "cancel")
    hint = {**told, "status": "authorised"}  # believed by nobody
    await shopper.client.post(shopper.url("/thanh-toan/ket-qua"), data=hint)
    page = await shopper.get(f"/don-hang/{order['id']}")
    assert "không chấp nhận thanh toán" in page.text
    assert (street.statuses(), street.held(), street.stock(), await shopper.cart()) == ([], 0, 100, 1)
    assert (await shopper.buy("cod", key="another")).status_code == 201


async def test_a_webhook_counts_only_with_a_signature_of_now_and_says_nothing_by_itself(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    order = (await shopper.buy("tok_redirect")).json()
    body = b'{"type": "payment.authorised", "data": {"merchant_reference": "%s"}}' % order["id"].encode()

    async def told(headers: dict[str, str], content: bytes = body) -> int:
        answer = await shopper.client.post(shopper.url(SHOP_PATH), content=content, headers=headers)
        return answer.status_code

    assert await told({}) == 401
    assert await told(sign("evt_1", body, secrets=["x" * 40], now=time.time())) == 401
    assert await told(sign("evt_1", body, secrets=[SECRET], now=time.time() - 3600)) == 401
    assert await told(sign("evt_1", body, secrets=[SECRET], now=time.time())) == 204
    assert street.statuses() == ["awaiting_payment"], "the acquirer was asked, and nobody has agreed"
    for odd in (b"{}", b"[", b"\xff", b'{"data": {"merchant_reference": 7}}'):
        assert await told(sign("evt_2", odd, secrets=[SECRET], now=time.time()), odd) == 400
    foreign = b'{"data": {"merchant_reference": "somebody else\\u0000"}}'
    assert await told(sign("evt_3", foreign, secrets=[SECRET], now=time.time()), foreign) == 204


async def test_a_cancelled_order_gives_the_money_back_also_when_the_acquirer_was_away(
    street: Street, shopper: Shopper
) -> None:
    await shopper.fill()
    order = (await shopper.buy()).json()
    street.acquirer.fault(endpoint="POST /v1/closures", mode="refuse", for_s=60)
    cancelled = await shopper.post(f"/api/v1/orders/{order['id']}/cancel", {})
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert (street.held(), street.stock()) == (1, 100)
    street.acquirer.fault(endpoint="POST /v1/closures", latency_s=0, for_s=1)
    await asyncio.to_thread(street.settled)
    assert street.held() == 0
    page = await shopper.get(f"/don-hang/{order['id']}")
    assert "Tiền đã trở về thẻ" in page.text
