"""What every request passes before it reaches a route."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import httpx
import pytest

from app.web.origins import Origin
from tests.web.conftest import Build, World

Headers = dict[str, str]


async def test_every_answer_carries_its_id_its_server_and_the_security_headers(
    api: httpx.AsyncClient,
) -> None:
    paths = ["/", "/api/v1/cart", "/api/v1/none", "/none", "/static/none.css", "/docs", "/openapi.json"]
    for path in paths:
        answer = await api.get(path)
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"]), path
        assert answer.headers["x-served-by"] == "shop-1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


async def test_a_request_id_that_could_harm_a_log_is_made_new(api: httpx.AsyncClient) -> None:
    for given in ("a b", "x" * 65, "x" * 5000, "\x1b[31mred", "é", "", "<script>"):
        answer = await api.get("/", headers={b"x-request-id": given.encode()})
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"]), given


async def test_a_request_id_is_kept_from_a_trusted_proxy_alone(world: World) -> None:
    own = {"x-request-id": "req_1.A-b"}
    for peer, kept in (("127.0.0.1", True), ("203.0.113.7", False)):
        transport = httpx.ASGITransport(world.app, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://chopho.example") as client:
            answer = await client.get("/", headers=own)
        assert (answer.headers["x-request-id"] == "req_1.A-b") is kept


async def test_hsts_is_said_where_the_public_url_is_https(build_world: Build) -> None:
    for origin, said in (("https://chopho.example", True), ("http://chopho.example", False)):
        async with build_world(public_url=origin).client(origin=origin) as client:
            assert ("strict-transport-security" in (await client.get("/")).headers) is said


async def test_another_host_is_misdirected(api: httpx.AsyncClient) -> None:
    for host in (
        "evil.com",
        "a/b?",
        "chopho.example.evil.com",
        "chopho.example:81",
        "chopho.example.",
        "x@y",
        "",
    ):
        answer = await api.get("/api/v1/cart", headers={"host": host})
        assert (answer.status_code, answer.json()["code"]) == (421, "wrong_host"), host
        assert "x-request-id" in answer.headers


async def test_our_host_is_ours_in_every_spelling(api: httpx.AsyncClient) -> None:
    for host in ("chopho.example", "chopho.example:80", "CHOPHO.example"):
        assert (await api.get("/api/v1/cart", headers={"host": host})).status_code == 200


async def test_the_acquirer_may_call_us_by_a_name_of_its_own_and_must_sign(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/v1/webhooks/payments", content=b"{}", headers={"host": "app:8000"})
    assert answer.status_code == 401, answer.text


async def test_two_hosts_are_none(api: httpx.AsyncClient) -> None:
    hosts = [("host", "chopho.example"), ("host", "chopho.example")]
    assert (await api.get("/", headers=hosts)).status_code == 421


SITES: list[tuple[Headers, int]] = [
    ({}, 204),
    ({"sec-fetch-site": "same-origin"}, 204),
    ({"sec-fetch-site": "none"}, 204),
    ({"sec-fetch-site": "same-site"}, 403),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "cross-site", "origin": "http://chopho.example"}, 403),
    ({"sec-fetch-site": "whatever"}, 403),
    ({"origin": "http://chopho.example"}, 204),
    ({"origin": "http://chopho.example:80"}, 204),
    ({"origin": "https://chopho.example"}, 403),
    ({"origin": "http://chopho.example:8080"}, 403),
    ({"origin": "http://chopho.example.evil.com"}, 403),
    ({"origin": "http://evil.com"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": ""}, 403),
]


async def test_an_unsafe_request_of_another_site_is_refused_with_or_without_a_cookie(
    api: httpx.AsyncClient,
) -> None:
    for headers, status in SITES:
        for cookie in ({}, {"cookie": "chopho=1"}):
            answer = await api.delete("/api/v1/session", headers={**headers, **cookie})
            assert answer.status_code == status, headers
        assert (await api.get("/api/v1/session", headers=headers)).status_code == 200


async def test_of_two_origins_both_must_be_ours(api: httpx.AsyncClient) -> None:
    twice = [("origin", "http://chopho.example"), ("origin", "http://evil.com")]
    assert (await api.delete("/api/v1/session", headers=twice)).status_code == 403
    twice = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]
    assert (await api.delete("/api/v1/session", headers=twice)).status_code == 403


async def test_an_unsafe_request_that_was_answered_504_is_not_carried_out(api: httpx.AsyncClient) -> None:
    now = time.time()
    late = [f"t={now - 11:.3f}", *(f"t={(now - 11) * unit:.0f}" for unit in (1e3, 1e6, 1e9)), "1", "t=1.5"]
    for stamp in late:
        answer = await api.delete("/api/v1/session", headers={"x-request-start": stamp})
        assert (answer.status_code, answer.json()["code"]) == (503, "overdue"), stamp
        assert "retry-after" in answer.headers
        assert (await api.get("/api/v1/session", headers={"x-request-start": stamp})).status_code == 200
    for stamp in (f"t={now - 5:.3f}", f"{now + 60:.3f}", "", "yesterday", "9" * 400, "t=-1"):
        answer = await api.delete("/api/v1/session", headers={"x-request-start": stamp})
        assert answer.status_code == 204, stamp


async def test_the_age_of_a_request_is_believed_from_a_trusted_proxy_alone(world: World) -> None:
    transport = httpx.ASGITransport(world.app, client=("203.0.113.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://chopho.example") as client:
        answer = await client.delete("/api/v1/session", headers={"x-request-start": "t=1"})
    assert answer.status_code == 204


async def test_the_balancers_timeout_is_a_setting(build_world: Build) -> None:
    async with build_world(request_timeout=timedelta(seconds=60)).client() as client:
        headers = {"x-request-start": f"t={time.time() - 30}"}
        assert (await client.delete("/api/v1/session", headers=headers)).status_code == 204


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Chợ.example/", Origin("https", "xn--ch-3bt.example", 443)),
        ("http://[::1]:8080", Origin("http", "[::1]", 8080)),
        ("ftp://x", None),
        ("https://x/path", None),
        ("https://", None),
        ("https://x:99999", None),
        ("https://" + "x" * 70, None),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: Origin | None) -> None:
    assert Origin.parse(url) == origin
