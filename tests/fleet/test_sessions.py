"""Sessions over three replicas of the whole shop: every addition counts, and no token lies anywhere."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import redis

from tests.conftest import free_port, wait_until
from tests.fleet.conftest import as_json, chopho
from tests.fleet.shopping import PASSWORD, add, in_stock, order, registered

pytestmark = [pytest.mark.fleet, pytest.mark.anyio]

ADDITIONS, CARTS, AT_ONCE = 10_000, 125, 100


@pytest.fixture(scope="module", params=["redis", "jwt"])
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Three replicas; with tokens, the block list lies in the Redis of another fleet's kind."""
    state, port = tmp_path_factory.mktemp("three"), free_port()
    words = ["up", "--replicas", "3", "--port", str(port), "--state", str(state), "--detach"]
    if request.param == "jwt":
        words += ["--session", f"jwt+{request.getfixturevalue('lasting_redis_url')}"]
    up = chopho(*words)
    assert up.returncode == 0, up.stderr
    try:
        yield {**as_json(chopho("status", "--json", "--state", str(state)).stdout), "kind": request.param}
    finally:
        down = chopho("down", "--state", str(state))
        assert down.returncode == 0, down.stderr


@pytest.fixture
async def browser(fleet: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
    """One cookie jar that talks to HAProxy."""
    async with httpx.AsyncClient(base_url=fleet["url"], timeout=30) as client:
        yield client


@pytest.mark.timeout(600)  # a minute of a quiet machine
async def test_ten_thousand_concurrent_additions_over_three_replicas_all_count(
    fleet: dict[str, Any], browser: httpx.AsyncClient
) -> None:
    if fleet["kind"] == "jwt":
        pytest.skip("this backend keeps the fields in the ticket, so parallel writes overwrite each other")
    sku = await in_stock(browser, least=ADDITIONS // CARTS)
    body = {"sku": sku, "quantity": 1}
    served = set()
    async with aiohttp.ClientSession(
        fleet["url"], connector=aiohttp.TCPConnector(limit=AT_ONCE), cookie_jar=aiohttp.DummyCookieJar()
    ) as client:
        cookies = []
        for _ in range(CARTS):
            async with client.post("/api/v1/cart/items", json=body) as answer:
                cookies.append(answer.headers["set-cookie"].partition(";")[0])
        numbers, accepted = count(), CARTS

        async def worker() -> None:
            nonlocal accepted
            # Neighbours in time go to the same cart.
            while (number := next(numbers)) < ADDITIONS - CARTS:
                headers = {"cookie": cookies[number // (ADDITIONS // CARTS - 1)]}
                async with client.post("/api/v1/cart/items", json=body, headers=headers) as answer:
                    accepted += answer.ok
                    served.add(answer.headers["x-served-by"])

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        carts = []
        for cookie in cookies:
            async with client.get("/api/v1/cart", headers={"cookie": cookie}) as answer:
                carts.append(await answer.json())
    assert accepted == ADDITIONS
    assert sum(cart["count"] for cart in carts) == ADDITIONS
    assert len(served) == 3


async def test_whoever_logs_in_is_logged_in_on_the_next_replica_at_once(
    fleet: dict[str, Any], browser: httpx.AsyncClient
) -> None:
    email = await registered(browser)
    replicas = [one["url"] for one in fleet["replicas"]]
    host = {"host": fleet["url"].removeprefix("http://")}
    async with httpx.AsyncClient(timeout=30, headers=host) as client:
        for number in range(150):  # in each of two fleets: three hundred in all
            form = {"email": email, "password": PASSWORD, "next": "/tai-khoan"}
            answer = await client.post(f"{replicas[number % 3]}/dang-nhap", data=form)
            assert (answer.status_code, answer.headers["location"]) == (303, "/tai-khoan")
            landed = await client.get(f"{replicas[(number + 1) % 3]}/tai-khoan")
            assert landed.status_code == 200, number
            assert email in landed.text


async def test_no_issued_token_lies_in_redis_its_files_the_logs_or_the_metrics(
    fleet: dict[str, Any], browser: httpx.AsyncClient, lasting_redis_url: str
) -> None:
    tokens = await _full_run(browser)
    assert len(tokens) >= 8
    url = fleet["redis"]["url"] if fleet["kind"] == "redis" else lasting_redis_url
    kept = await asyncio.to_thread(_everything_in, url)
    assert b"sessions:" in kept or b"tokens:" in kept
    assert b"ended:" in kept
    logs = await asyncio.to_thread(_logs_in, Path(fleet["logs"]))
    assert b'"replica":"app3"' in logs
    async with httpx.AsyncClient() as operator:
        metrics = b"".join(
            [(await operator.get(f"{one['url']}/metrics")).content for one in fleet["replicas"]]
        )
    assert b"session_operations" in metrics
    for where, content in (("Redis", kept), ("logs", logs), ("metrics", metrics)):
        assert [token for token in tokens if token.encode() in content] == [], where


async def _full_run(browser: httpx.AsyncClient) -> set[str]:
    """All that changes a session; the secret parts of every cookie that was given."""
    tokens: set[str] = set()

    async def note(answer: httpx.Response) -> None:
        for line in answer.headers.get_list("set-cookie"):
            value = line.partition(";")[0].partition("=")[2]
            # The random part and the signature, or of a token what follows the header that all have.
            tokens.update(
                part for part in value.split(".")[1:] if len(part) >= 40 and not part.startswith("eyJhbGci")
            )

    browser.event_hooks["response"].append(note)
    sku = await in_stock(browser, least=20)
    await add(browser, sku, 2)
    email = await registered(browser)
    await add(browser, sku, 1)
    assert (await order(browser, secrets.token_hex())).status_code == 201
    await browser.get("/tai-khoan/phien")
    assert (await browser.delete("/api/v1/sessions")).status_code == 204
    change = {"current": PASSWORD, "new": f"{PASSWORD}-mới"}
    assert (await browser.post("/api/v1/password", json=change)).status_code == 204
    await browser.get("/khong-co?sid=" + re.sub(r"\W", "", str(browser.cookies)))
    assert (await browser.delete("/api/v1/session")).status_code == 204
    await browser.post("/api/v1/session", json={"email": email, "password": f"{PASSWORD}-mới"})
    await add(browser, sku, 1)
    return tokens


def _logs_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def _everything_in(url: str) -> bytes:
    """Keys and values, and the server's files written anew without compression."""
    with redis.Redis.from_url(url) as client:
        kept = b"\n".join(key + b"=" + (client.dump(key) or b"") for key in client.scan_iter("*", count=1000))
        client.config_set("rdbcompression", "no")
        client.config_set("aof-use-rdb-preamble", "no")
        client.bgrewriteaof()
        wait_until(lambda: not _is_writing(client), what="the append-only file")
        client.bgsave()
        wait_until(lambda: not _is_writing(client), what="the dump")
        folder = Path(client.config_get("dir")["dir"])
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert any(file.suffix == ".rdb" for file in files)
    return kept + b"".join(file.read_bytes() for file in files)


def _is_writing(client: redis.Redis) -> bool:
    info = client.info("persistence")
    return bool(
        info["aof_rewrite_in_progress"] or info["rdb_bgsave_in_progress"] or info["aof_rewrite_scheduled"]
    )
