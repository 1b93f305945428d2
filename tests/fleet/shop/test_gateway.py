"""The gateway behind HAProxy: what the acquirer of a whole fleet receives, whatever a client sends."""

from __future__ import annotations

import json
import re
import socket
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.fleet.state import StateDirectory
from app.identity import PublicKeys, Verifier
from tests.conftest import wait_until

pytestmark = pytest.mark.fleet

ECHO = "/api/services/payments/echo"

HOSTILE = [
    *(("X-User", "owner"), ("X_User_Id", "1"), ("x-account", "1"), ("X-INTERNAL-TOKEN", "forged")),
    *(
        ("X_Internal_Token", "forged"),
        ("X-Remote-User", "root"),
        ("Remote-User", "root"),
        ("X-Roles", "owner"),
    ),
    *(("Cookie", "chopho_session=forged"), ("Connection", "X-Internal-Token, X-Forwarded-For, X-Request-Id")),
    *(
        ("TE", "trailers"),
        ("Trailer", "X-Sum"),
        ("Upgrade", "h2c"),
        ("Keep-Alive", "timeout=9"),
        ("Proxy", "x"),
    ),
    *(
        ("X-Forwarded-For", "203.0.113.1"),
        ("X-Forwarded-For", "203.0.113.2"),
        ("Forwarded", "for=203.0.113.3"),
    ),
    *(("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"), ("X-Real-IP", "203.0.113.4")),
    *(
        ("X-Request-Id", "x" * 5000),
        ("X-Original-URL", "/metrics"),
        ("Authorization", "Bearer of-the-client"),
    ),
]


def received(answer: httpx.Response) -> dict[str, str]:
    """The headers that reached the service; none may come twice."""
    assert answer.status_code == 200, answer.text
    headers = answer.json()["headers"]
    assert len({name for name, _ in headers}) == len(headers)
    return dict(headers)


def is_in(log: Path, words: str) -> bool:
    return words in log.read_text()


def raw(fleet: dict[str, Any], data: bytes) -> bytes:
    """What comes back to these bytes until the connection ends or nothing comes for a second."""
    host, port = fleet["url"].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=1) as connection:
        connection.sendall(data)
        found = b""
        while True:
            try:
                part = connection.recv(65_536)
            except (TimeoutError, ConnectionResetError):
                return found
            if not part:
                return found
            found += part


def test_the_service_sees_the_shop_and_nothing_that_a_client_says_of_itself(
    shop_fleet: dict[str, Any],
) -> None:
    answer = httpx.get(shop_fleet["url"] + ECHO, headers=HOSTILE)
    seen = received(answer)
    request_id = seen.pop("x-request-id")
    assert 0 < int(seen.pop("x-request-deadline-ms")) <= 2000
    assert seen == {
        "host": next(one["url"] for one in shop_fleet["services"] if one["name"] == "payments")[7:],
        "authorization": "Bearer of-the-client",
        "accept": "*/*",
        "accept-encoding": answer.request.headers["accept-encoding"],
        "user-agent": answer.request.headers["user-agent"],
        "x-forwarded-for": "127.0.0.1, 127.0.0.1",  # the client, and HAProxy
        "x-forwarded-proto": "http",
        "x-forwarded-host": shop_fleet["url"].removeprefix("http://"),
    }
    assert re.fullmatch("[0-9a-f-]{36}", request_id)
    assert answer.headers.get_list("x-request-id") == [request_id]
    assert len(answer.headers.get_list("x-served-by")) == 1
    logs = Path(shop_fleet["state"], "logs")
    for name in ("haproxy", answer.headers["x-served-by"]):
        log = logs / f"{name}.log"
        wait_until(partial(is_in, log, request_id), what=f"the line of {name}")


def test_who_is_logged_in_is_told_by_a_token_that_the_service_believes(shop_fleet: dict[str, Any]) -> None:
    who = {"email": "khach@chopho.example", "password": "chopho-demo-2026"}
    with httpx.Client(base_url=shop_fleet["url"]) as client:
        account = client.post("/api/v1/session", json=who).json()["account"]
        seen = received(client.get(ECHO))
    key = StateDirectory(Path(shop_fleet["state"])).identity_public_key
    caller = Verifier(PublicKeys.read(key), audience="payments").verify(seen["x-internal-token"])
    assert caller is not None
    assert (caller.subject, caller.role) == (account["id"], "customer")
    assert Verifier(PublicKeys.read(key), audience="reviews").verify(seen["x-internal-token"]) is None


def test_every_service_is_reached_and_composed(shop_fleet: dict[str, Any]) -> None:
    slug = httpx.get(f"{shop_fleet['url']}/api/v1/products?page_size=1").json()["items"][0]["slug"]
    through = f"{shop_fleet['url']}/api/services"
    stock = httpx.get(f"{through}/inventory/v1/products/{slug}/stock")
    assert stock.status_code == 200, stock.text
    assert stock.json()["items"]
    assert httpx.get(f"{through}/reviews/v1/products/{slug}/reviews").json()["page"] == 1
    assert "items" in httpx.get(f"{through}/recommendations/v1/products/{slug}/recommendations").json()
    assert httpx.put(f"{through}/reviews/v1/products/{slug}/reviews/mine").status_code == 405
    assert httpx.get(f"{through}/reviews/v1/reviews").status_code == 404
    for mode in ("parallel", "sequential"):
        composed = httpx.get(f"{shop_fleet['url']}/api/compose/product/{slug}?mode={mode}")
        assert composed.status_code == 200, composed.text
        assert (composed.json()["slug"], composed.json()["degraded"]) == (slug, [])
        assert composed.json()["stock"] is not None


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        *(
            (f"/api/services/payments/{path}", {400})
            for path in ("../metrics", "%2e%2e/metrics", "..%2fmetrics")
        ),
        *(
            (f"/api/services/payments/{path}", {400})
            for path in ("..%5cmetrics", "%252e%252e/x", "a%00", "/echo")
        ),
        *(
            (f"/api/services/payments/{path}", {404})
            for path in ("metrics", "health/readiness", "faults", "v1/x")
        ),
        ("/api/services/payments\\echo", {400, 404}),
        ("/api/services/elsewhere/echo", {404}),
    ],
)
def test_what_is_not_in_the_table_leads_nowhere(
    shop_fleet: dict[str, Any], path: str, statuses: set[int]
) -> None:
    host = shop_fleet["url"].removeprefix("http://")
    answer = raw(shop_fleet, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert int(answer.split(b" ", 2)[1]) in statuses, answer[:200]


@pytest.mark.parametrize(
    "smuggled",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /echo?smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: 47\r\n\r\nGET /echo?smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /echo?smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /echo?smuggled HTTP/1.1\r\n\r\n",
        b"X: y\r\n Content-Length: 5\r\n\r\nGET /echo?smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        b"X-A: " + b"x" * 40_000 + b"\r\n\r\n",
        b"X-A: 1\r\n" * 200 + b"\r\n",
    ],
    ids=lambda data: repr(data[:40]),
)
def test_no_request_rides_on_another_and_no_head_is_too_large_to_refuse(
    shop_fleet: dict[str, Any], smuggled: bytes
) -> None:
    host = shop_fleet["url"].removeprefix("http://")
    answer = raw(shop_fleet, f"POST {ECHO} HTTP/1.1\r\nHost: {host}\r\n".encode() + smuggled)
    bodies = [json.loads(found) for found in re.findall(rb'\{"method".*?\n?\}$', answer, re.MULTILINE)]
    assert not any("smuggled" in body["query"] for body in bodies)
    assert b"HTTP/1.1 200" not in answer.partition(b"\r\n\r\n")[2]
    assert httpx.get(shop_fleet["url"] + ECHO).status_code == 200


def test_an_absolute_url_and_another_host_lead_nowhere_else(shop_fleet: dict[str, Any]) -> None:
    host = shop_fleet["url"].removeprefix("http://")
    asked = f"GET http://evil.example{ECHO} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(shop_fleet, asked.encode()).split(b" ", 2)[1] in {b"400", b"421"}
    assert httpx.get(shop_fleet["url"] + ECHO, headers={"host": "evil.example"}).status_code == 421
