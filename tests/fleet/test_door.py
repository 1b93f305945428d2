"""What passes HAProxy, and what does not."""

from __future__ import annotations

import re
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fleet.conftest import StubFleet, headers_that_arrived

pytestmark = pytest.mark.fleet

CLAIMS = [
    ("X-Forwarded-For", "203.0.113.9"),
    ("x-forwarded-for", "198.51.100.7, 127.0.0.1"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Host", "evil.example"),
    ("X-Forwarded-Port", "443"),
    ("X-Forwarded-Prefix", "/evil"),
    ("X-Forwarded-Server", "evil"),
    ("X_Forwarded_For", "203.0.113.9"),
    ("Forwarded", "for=203.0.113.9;proto=https"),
    ("X-Real-IP", "203.0.113.9"),
    ("X-Request-Id", "somebody-elses"),
    ("X-Request-Start", "t=1"),
]


def test_what_a_client_says_about_itself_is_replaced_by_what_haproxy_sees(whole_fleet: StubFleet) -> None:
    before_ms = time.time_ns() // 1_000_000
    arrived = headers_that_arrived(whole_fleet, CLAIMS)
    about = [(name, value) for name, value in arrived if name.startswith(("x-", "x_", "forwarded"))]
    seen = dict(about)
    assert len(seen) == len(about), "a header came twice"
    request_id, request_start = seen.pop("x-request-id"), seen.pop("x-request-start")
    assert seen == {
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-forwarded-host": f"127.0.0.1:{whole_fleet.port}",
        "x-forwarded-port": str(whole_fleet.port),
    }
    assert re.fullmatch(r"[0-9a-f-]{36}", request_id)
    stamped = re.fullmatch(r"t=([0-9]{13})", request_start)
    assert stamped is not None
    assert before_ms - 1000 <= int(stamped[1])


def test_every_answer_carries_an_id_of_its_own_that_the_log_has_too(whole_fleet: StubFleet) -> None:
    answers = [httpx.get(f"{whole_fleet.url}{path}") for path in ("/", "/", "/health", "/not-there")]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == len(ids)
    assert [answer.headers["x-served-by"][:3] for answer in answers] == ["app", "app", "hap", "hap"]
    log = whole_fleet.log_once_it_has(ids[0])
    lines = [line for line in log.splitlines() if ids[0] in line]
    assert len(lines) == 1
    assert "app_servers/app" in lines[0]


def test_the_log_has_no_cookie_and_no_query(whole_fleet: StubFleet) -> None:
    answer = httpx.get(
        f"{whole_fleet.url}/?q=private-words", headers={"Cookie": "chopho_session=private-token"}
    )
    assert "private" not in whole_fleet.log_once_it_has(answer.headers["x-request-id"])


def test_replicas_take_turns(whole_fleet: StubFleet) -> None:
    with httpx.Client(base_url=whole_fleet.url) as client:
        served_by = [client.get("/").headers["x-served-by"] for _ in range(10)]
    assert set(served_by) == {"app1", "app2"}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/health",
            "/health/",
            "/health/liveness",
            "/health/readiness",
            "/metrics",
            "/metrics?x=1",
            "/internal/compartments",
            "/%69nternal/x",
        ),
        *("/%68ealth/readiness", "/health%2freadiness", "//health/readiness", "/metric%73"),
    ],
)
def test_what_replicas_tell_about_themselves_stays_inside(whole_fleet: StubFleet, path: str) -> None:
    answer = httpx.get(f"{whole_fleet.url}{path}")
    assert (answer.status_code, answer.headers["x-served-by"]) == (404, "haproxy")
    assert "Không tìm thấy trang" in answer.text


@pytest.mark.parametrize("name", ["app1", "app2"])
def test_probes_answer_get_and_head_and_name_them_to_others(whole_fleet: StubFleet, name: str) -> None:
    for path in ("/health/liveness", "/health/readiness"):
        url = whole_fleet.replica_url(name) + path
        assert [httpx.request(method, url).status_code for method in ("GET", "HEAD", "OPTIONS")] == [
            200,
            200,
            405,
        ]
        assert httpx.options(url).headers["allow"] == "GET, HEAD"


def test_a_body_beyond_the_limit_is_refused_with_413(whole_fleet: StubFleet) -> None:
    url = f"{whole_fleet.url}/body"
    assert httpx.post(url, content=b"a" * 1_000_000).text == "1000000"
    with socket.create_connection(("127.0.0.1", whole_fleet.port), timeout=5) as client:
        client.sendall(b"POST /body HTTP/1.1\r\nHost: shop\r\nContent-Length: 10485761\r\n\r\n")
        # Refused by what it announces, before any of it is sent.
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_chunked_body_passes(whole_fleet: StubFleet) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"abc"
        yield b"def"

    assert httpx.post(f"{whole_fleet.url}/body", content=chunks()).text == "6"


def test_statistics_and_metrics_are_on_a_port_of_their_own(whole_fleet: StubFleet) -> None:
    record = whole_fleet.record()
    assert record is not None
    assert "app_servers" in httpx.get(record.statistics_url).text
    assert "haproxy_server_status" in httpx.get(f"{record.statistics_url}metrics").text


def test_only_its_owner_may_speak_to_the_runtime_api(whole_fleet: StubFleet) -> None:
    record = whole_fleet.record()
    assert record is not None
    assert stat.S_IMODE(Path(record.haproxy_socket).stat().st_mode) == 0o600
