"""What a service behind the gateway receives, and what of its answers reaches the client; on real processes."""

from __future__ import annotations

import gzip
import re
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.balancers import balanced
from tests.conftest import wait_until
from tests.web.gateway import ECHO, Head, Replica, replica, requests_in, service

UNKNOWN = "198.51.100.0/24"
EVENTS = {"accept": "text/event-stream"}


def as_told_to(one: Replica) -> dict[str, str]:
    """The host by which shoppers know the shop, whichever way they come."""
    return {"host": f"127.0.0.1:{one.port}"}


@pytest.fixture(scope="module")
def shop(
    tmp_path_factory: pytest.TempPathFactory, lasting_redis_url: str, web_database_url: str
) -> Iterator[Replica]:
    """A replica that trusts this machine as its balancer, as replicas do by default."""
    folder = tmp_path_factory.mktemp("gateway")
    with (
        service() as url,
        replica(
            folder,
            url,
            redis=lasting_redis_url,
            database=web_database_url,
            GATEWAY_POOL_SIZE="4",
            GATEWAY_TIMEOUT="60s",
        ) as one,
    ):
        yield one


@pytest.fixture(scope="module")
def door(shop: Replica, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client whose way to it leads through HAProxy."""
    with (
        balanced(tmp_path_factory.mktemp("balancer"), {"app1": shop.port}) as balancer,
        httpx.Client(base_url=balancer.url, headers=as_told_to(shop), timeout=30) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def exposed(
    shop: Replica,
    tmp_path_factory: pytest.TempPathFactory,
    lasting_redis_url: str,
    web_database_url: str,
) -> Iterator[Replica]:
    """A replica to which this machine is anybody."""
    folder = tmp_path_factory.mktemp("exposed")
    urls = {"redis": lasting_redis_url, "database": web_database_url}
    settings = {"TRUSTED_PROXIES": UNKNOWN, "GATEWAY_TIMEOUT": "300ms", "RATE_LIMIT": "on"}
    with replica(folder, shop.service_url, **urls, **settings) as one:
        yield one


class TestTheRequest:
    def test_the_service_gets_what_was_asked_and_what_the_gateway_says(self, shop: Replica) -> None:
        told = shop.told(
            ("Authorization", "Bearer xyz"),
            ("X-Custom", "1"),
            ("Accept", "a/b"),
            ("User-Agent", "u"),
        )
        assert told.line == "GET /echo HTTP/1.1"
        assert told.value("authorization") == "Bearer xyz"
        assert told.value("host") == shop.service_url.removeprefix("http://")
        assert told.value("x-forwarded-proto") == "http"
        assert told.value("x-forwarded-host") == f"127.0.0.1:{shop.port}"
        assert told.value("x-forwarded-for") == "127.0.0.1"
        assert 0 < int(told.value("x-request-deadline-ms")) <= 60_000
        assert set(told.names) == {
            *("authorization", "x-custom", "accept", "user-agent", "accept-encoding"),
            *("host", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-for"),
            *("x-request-id", "x-request-deadline-ms"),
        }

    def test_nobody_says_who_calls_but_the_shop(self, shop: Replica) -> None:
        spoofed = [
            *("X-User", "X-User-Id", "X_User_Id", "x-USER", "X-Account", "X_Account", "X-Internal-Token"),
            *("X_Internal_Token", "X-Remote-User", "Remote_User", "X-Auth-Request-User", "X-Forwarded-User"),
            *(
                "X-Roles",
                "X-Is-Admin",
                "X-Original-URL",
                "X-HTTP-Method-Override",
                "Proxy",
                "Proxy-Authorization",
            ),
        ]
        plain = shop.told(("connection", "close"))
        told = shop.told(*((name, "owner") for name in spoofed), ("Cookie", "a=1; X-User=2"), ("Cookie", "b"))
        assert set(told.names) == set(plain.names)
        assert "owner" not in str(told.headers)

    def test_what_is_for_one_hop_stays_there(self, shop: Replica) -> None:
        told = shop.told(
            ("Connection", "keep-alive, X-Hop, X-Internal-Token, X-Forwarded-For, X-Request-Id, Host"),
            *(("X-Hop", "1"), ("TE", "trailers, deflate"), ("Trailer", "X-Sum"), ("Keep-Alive", "timeout=9")),
            *(("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"), ("X-Kept", "1")),
        )
        assert told.value("x-kept") == "1"
        assert not {"connection", "x-hop", "te", "trailer", "keep-alive", "upgrade"} & set(told.names)
        assert {"host", "x-forwarded-for", "x-request-id"} <= set(told.names)

    def test_an_upgrade_is_no_way_through(self, shop: Replica) -> None:
        asked = (
            f"GET {ECHO} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        ).encode()
        answer = shop.raw(asked, within_s=1)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"pgrade" not in answer.split(b"x-request-id")[0]

    def test_addresses_are_appended_to_those_of_a_trusted_proxy(self, shop: Replica) -> None:
        told = shop.told(("X-Forwarded-For", "203.0.113.1, 203.0.113.2"), ("X-Forwarded-For", "203.0.113.3"))
        assert told.value("x-forwarded-for") == "203.0.113.1, 203.0.113.2, 203.0.113.3, 127.0.0.1"

    def test_of_anybody_else_no_forwarded_header_and_no_request_id_is_believed(
        self, exposed: Replica
    ) -> None:
        said = [
            *(("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "2.2.2.2"), ("Forwarded", "for=3.3.3.3")),
            *(("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"), ("X-Real-IP", "4.4.4.4")),
            *(("X-Forwarded-Port", "1"), ("X-Request-Id", "of-somebody-else"), ("Via", "1.1 evil")),
        ]
        told = exposed.told(*said)
        assert told.value("x-forwarded-for") == "127.0.0.1"
        assert told.value("x-forwarded-proto") == "http"
        assert told.value("x-forwarded-host") == f"127.0.0.1:{exposed.port}"
        assert re.fullmatch("[0-9a-f]{32}", told.value("x-request-id"))
        assert not {"forwarded", "x-real-ip", "x-forwarded-port", "via"} & set(told.names)

    @pytest.mark.parametrize("given", ["x" * 5000, "a b", "é", "a,b"], ids=len)
    def test_a_request_id_is_kept_from_a_trusted_proxy_if_it_is_harmless(
        self, shop: Replica, given: str
    ) -> None:
        kept = shop.told(("X-Request-Id", "req_1.A-b"))
        assert kept.value("x-request-id") == "req_1.A-b"
        made = shop.ask(headers=[(b"X-Request-Id", given.encode())])
        at_service = Head.of(made.json()).value("x-request-id")
        assert re.fullmatch("[0-9a-f]{32}", at_service)
        assert made.headers.get_list("x-request-id") == [at_service]
        wait_until(
            lambda: any(line["request_id"] == at_service for line in requests_in(shop.log)),
            what="the log line",
        )

    def test_who_is_logged_in_is_said_by_a_token_for_that_service(self, shop: Replica) -> None:
        with httpx.Client(base_url=shop.url) as client:
            person = {
                "email": f"{secrets.token_hex(6)}@khach.example",
                "password": "mat-khau-dai",
                "name": "Ánh",
            }
            account = client.post("/api/v1/accounts", json=person).json()
            person.pop("name")
            assert client.post("/api/v1/session", json=person).status_code == 200
            answer = client.get(
                ECHO, headers={"x-internal-token": "forged", "authorization": "Bearer of-client"}
            )
            told = Head.of(answer.json())
            client.delete("/api/v1/session")
            after = Head.of(client.get(ECHO).json())
        caller = shop.verifier.verify(told.value("x-internal-token"))
        assert caller is not None
        assert (caller.subject, caller.role) == (account["id"], "customer")
        assert told.value("authorization") == "Bearer of-client"
        assert answer.headers["cache-control"] == "private, no-store"
        assert "cookie" not in told.names
        assert "x-internal-token" not in after.names

    def test_a_body_passes_whole_however_it_is_framed(self, shop: Replica) -> None:
        told = shop.told(method="POST", content=b"xin chao")
        assert (told.begin, told.size, told.value("content-length")) == ("xin chao", 8, "8")
        told = shop.told(method="POST", content=iter([b"xin ", b"chao"]))
        assert (told.begin, told.size) == ("xin chao", 8)
        body = [b"x" * 30_000, b"y" * 30_000]
        told = shop.told(method="PUT", content=iter(body))
        assert told.size == 60_000
        assert {"content-length", "transfer-encoding"} & set(told.names)
        told = shop.told(method="POST", content=b"")
        assert told.size == 0

    def test_a_body_that_comes_slowly_is_passed_on_as_it_comes(self, shop: Replica) -> None:
        def slowly() -> Iterator[bytes]:
            for _ in range(5):
                yield b"z" * 1000
                time.sleep(0.1)

        told = shop.told(method="POST", content=slowly())
        assert told.size == 5000
        assert told.value("transfer-encoding") == "chunked"

    def test_a_body_past_the_limit_is_refused_before_it_is_sent(self, shop: Replica) -> None:
        def endless() -> Iterator[bytes]:
            while True:
                yield b"x" * 65_536

        assert shop.ask(method="POST", content=b"x" * 70_000).json()["code"] == "body_too_large"
        with suppress(httpx.TransportError):  # cut while it sends
            assert shop.ask(method="POST", content=endless()).status_code == 413
        wait_until(lambda: shop.in_use() == 0, what="the slot")


HOSTILE_PATHS = [
    "/api/services/payments/../../metrics",
    "/api/services/payments/%2e%2e/metrics",
    "/api/services/payments/%2e%2e%2fmetrics",
    "/api/services/payments/..%5cmetrics",
    "/api/services/payments/%252e%252e/metrics",
    "/api/services/payments/echo%00",
    "/api/services/payments//echo",
    "/api/services/payments\\echo",
    "/api/services/payments/echo/",
    "/api/services%2fpayments/echo",
    "/api/services/../services/payments/echo",
]
UNKNOWN_PATHS = [
    "/api/services/payments/metrics",
    "/api/services/payments/health/readiness",
    "/api/services/payments/faults",
    "/api/services/payments/v1/payments",
    "/api/services/payments/ECHO",
    "/api/services/payments",
    "/api/services/nobody/echo",
    "/api/services/127.0.0.1:6379/echo",
    "/api/services/payments@evil.example/echo",
    "/api/services/payments/echo;x=1",
]


class TestTheDoor:
    @pytest.mark.parametrize(
        ("path", "status"),
        [*((path, 400) for path in HOSTILE_PATHS), *((path, 404) for path in UNKNOWN_PATHS)],
    )
    def test_only_the_paths_of_the_table_lead_anywhere(self, shop: Replica, path: str, status: int) -> None:
        before = shop.seen()["requests"]
        asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\nConnection: close\r\n\r\n"
        answer = shop.raw(asked.encode())
        assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:200]
        assert b"application/problem+json" in answer or b"Invalid HTTP request" in answer
        assert shop.seen()["requests"] == before

    def test_only_the_methods_of_the_table_pass(self, shop: Replica) -> None:
        for method in ("OPTIONS", "TRACE", "PROPFIND", "CONNECT"):
            asked = f"{method} {ECHO} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\nConnection: close\r\n\r\n"
            answer = shop.raw(asked.encode())
            assert answer.startswith((b"HTTP/1.1 405 ", b"HTTP/1.1 400 ")), (method, answer[:100])
        refused = httpx.request("OPTIONS", shop.url + ECHO)
        assert (refused.json()["code"], refused.headers["allow"]) == (
            "method_not_allowed",
            "DELETE, GET, HEAD, PATCH, POST, PUT",
        )

    def test_an_absolute_url_and_another_host_lead_nowhere_else(self, shop: Replica) -> None:
        asked = f"GET http://evil.example{ECHO} HTTP/1.1\r\nHost: {{}}\r\nConnection: close\r\n\r\n"
        assert b"GET /echo HTTP/1.1" in shop.raw(asked.format(f"127.0.0.1:{shop.port}").encode())
        assert shop.raw(asked.format("evil.example").encode()).startswith(b"HTTP/1.1 421 ")
        assert httpx.get(shop.url + ECHO, headers={"host": "evil.example"}).status_code == 421

    @pytest.mark.parametrize(
        "smuggled",
        [
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /echo?as=smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
            b"Content-Length: 0\r\nContent-Length: 44\r\n\r\nGET /echo?as=smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"Content-Length: +3\r\n\r\nabc",
            b"Transfer-Encoding: chunked\r\n\r\n3;a=b\nabc\r\n0\r\n\r\n",
            b"Bad Name: 1\r\n\r\n",
            b"X-Nul: a\0b\r\n\r\n",
            b"X-CR: a\rb\r\n\r\n",
            b"X-Request-Id: \x1b[31m\r\n\r\n",
            b"X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"X: y\r\n\nGET /echo?as=smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n0\n\nGET /echo?as=smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        ],
    )
    def test_no_second_request_rides_on_a_first(self, shop: Replica, smuggled: bytes) -> None:
        asked = f"POST {ECHO} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n".encode() + smuggled
        answer = shop.raw(asked, within_s=1)
        assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
        assert b"smuggled" not in answer

    def test_a_folded_header_is_one_header_or_refused(self, shop: Replica) -> None:
        asked = f"GET {ECHO} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\nX-A: 1\r\n X-Internal-Token: forged\r\n\r\n"
        answer = shop.raw(asked.encode(), within_s=1)
        assert answer.startswith(b"HTTP/1.1 400 ") or b"\\r\\nX-Internal-Token" not in answer

    @pytest.mark.parametrize("bomb", [b"X-A: 1\r\n" * 500, b"X-A: " + b"x" * 100_000 + b"\r\n"], ids=len)
    def test_a_head_larger_than_anybody_needs_is_refused(self, shop: Replica, bomb: bytes) -> None:
        asked = f"GET {ECHO} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n".encode() + bomb + b"\r\n"
        assert shop.raw(asked, within_s=1).startswith(b"HTTP/1.1 431 ")

    def test_an_unsafe_call_of_another_site_is_refused(self, shop: Replica) -> None:
        before = shop.seen()["requests"]
        for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
            answer = shop.ask(method="POST", headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
        assert shop.seen()["requests"] == before


class TestTheAnswer:
    def test_cookies_and_what_a_service_says_of_itself_stay_inside(self, shop: Replica) -> None:
        answer = shop.ask("cookies")
        assert answer.status_code == 200
        assert not {"set-cookie", "server", "x-powered-by"} & set(answer.headers)
        answer = shop.ask("closed")
        assert (answer.headers["x-kept"], answer.headers["etag"]) == ("yes", '"1"')
        assert "script-src *" not in answer.headers["content-security-policy"]
        closed = {
            "x-private",
            "keep-alive",
            "proxy-authenticate",
            "x-internal-debug",
            "x-user-id",
            "location",
        }
        assert not (closed | {"access-control-allow-origin", "x_odd"}) & set(answer.headers)

    def test_a_compressed_body_passes_as_it_is(self, shop: Replica) -> None:
        with httpx.stream("GET", f"{shop.url}{ECHO}?as=gzip") as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) == len(raw)
        assert gzip.decompress(raw) == b"xin chao" * 100
        assert "accept-encoding" in answer.headers["vary"]

    def test_a_body_in_chunks_arrives_whole_and_without_trailers(self, shop: Replica) -> None:
        answer = shop.ask("chunked")
        assert (answer.text, answer.headers["transfer-encoding"]) == ("xin chao", "chunked")
        assert "x-sum" not in answer.headers
        assert "trailer" not in answer.headers
        assert shop.ask("until close").text == "xin chao"

    def test_answers_without_a_body_have_none(self, shop: Replica) -> None:
        with httpx.Client() as client:  # one connection: a wrong length would garble what follows
            for way, status in (("204", 204), ("304", 304)):
                answer = client.get(shop.url + ECHO, params={"as": way})
                assert (answer.status_code, answer.content) == (status, b"")
                assert "content-length" not in answer.headers
                assert "transfer-encoding" not in answer.headers
            for way in ("gzip", "chunked", "", "cookies"):
                answer = client.head(shop.url + ECHO, params={"as": way})
                assert (answer.status_code, answer.content) == (200, b"")
            assert client.get(shop.url + ECHO).status_code == 200

    def test_a_status_passes_and_a_redirect_does_not(self, shop: Replica) -> None:
        assert shop.ask("422").json() == {"code": "invalid"}
        assert shop.ask("500").json() == {"code": "boom"}
        created = shop.ask("201")
        assert (created.status_code, "location" in created.headers) == (201, False)
        answer = shop.ask("redirect")
        assert (answer.status_code, answer.json()["code"], "location" in answer.headers) == (
            502,
            "service_failed",
            False,
        )
        assert shop.ask("early").status_code == 200

    @pytest.mark.parametrize(
        "way",
        [
            *(
                "garbage",
                "framed twice",
                "two lengths",
                "huge head",
                "many headers",
                "split",
                "999",
                "switch",
            ),
            *("cut head", "nothing"),
        ],
    )
    def test_what_is_no_answer_is_a_502_that_says_so(self, shop: Replica, way: str) -> None:
        answer = shop.ask(way, method="POST")
        assert answer.status_code == 502
        assert (answer.json()["code"], answer.json()["service"]) == ("service_failed", "payments")
        assert "set-cookie" not in answer.headers

    def test_a_second_answer_reaches_nobody(self, shop: Replica) -> None:
        for way in ("twice", "twice later") * 3:
            assert "stolen" not in shop.ask(way).text
            time.sleep(0.4)  # until the second is there
            assert "stolen" not in shop.ask().text

    @pytest.mark.parametrize("way", ["cut", "cut chunked"])
    def test_a_body_that_is_cut_does_not_look_whole(self, shop: Replica, way: str) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            shop.ask(way)
        asked = f"GET {ECHO}?as={way.replace(' ', '+')} HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n\r\n"
        answer = shop.raw(asked.encode())
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert not answer.endswith(b"0\r\n\r\n")

    def test_a_client_that_reads_slowly_holds_the_service_back(self, shop: Replica) -> None:
        before = shop.seen().get("written", 0)
        with httpx.stream("GET", f"{shop.url}{ECHO}?as=large", timeout=30) as answer:
            parts = answer.iter_raw()
            size = len(next(parts))
            time.sleep(0.5)
            ahead = shop.seen()["written"] - before
            size += sum(len(part) for part in parts)
        assert size == 64 * 1024 * 1024
        assert ahead < size  # the sockets and buffers between hold a part of it, not all

    def test_an_event_stream_passes_as_it_comes(self, shop: Replica) -> None:
        with httpx.stream("GET", f"{shop.url}{ECHO}?as=events", timeout=30) as answer:
            times = [time.monotonic() for _ in answer.iter_lines()]
        assert answer.headers["content-type"] == "text/event-stream"
        assert (
            times[-1] - times[0] > 0.3
        )  # it took that long to tell; at once would mean that it was kept back


class TestBehindTheBalancer:
    """The whole way: HAProxy, the gateway, the service."""

    def test_events_arrive_while_there_are_more_to_come_and_a_reader_who_leaves_ends_the_call(
        self, shop: Replica, door: httpx.Client
    ) -> None:
        with door.stream("GET", f"{ECHO}?as=endless", headers=EVENTS) as answer:
            assert next(answer.iter_lines()).startswith("data: ")
            assert shop.in_use() == 1
        wait_until(lambda: shop.in_use() == 0, what="the slot")
        wait_until(lambda: self.is_quiet(shop), what="the service to hear of it")

    @staticmethod
    def is_quiet(shop: Replica) -> bool:
        """Whether the service, which tells something five times a second, has ended to."""
        told = shop.seen()["told"]
        time.sleep(1)
        return shop.seen()["told"] == told

    def test_a_stream_may_be_silent_for_longer_than_a_page_and_is_whole(self, door: httpx.Client) -> None:
        with door.stream("GET", f"{ECHO}?as=events with a pause", headers=EVENTS) as answer:
            assert [line for line in answer.iter_lines() if line] == ["data: 1", "data: 2"]

    def test_a_large_body_passes_whole_in_both_directions(self, door: httpx.Client) -> None:
        assert len(door.get(f"{ECHO}?as=large").content) == 64 * 1024 * 1024
        assert door.post(ECHO, content=b"x" * 60_000).json()["size"] == 60_000


class TestItsCompartment:
    def test_a_client_that_leaves_takes_the_call_along_and_gives_the_slot_back(self, shop: Replica) -> None:
        left = shop.seen().get("left", 0)
        for _ in range(6):  # more than there are slots
            with socket.create_connection(("127.0.0.1", shop.port)) as client:
                client.sendall(f"GET {ECHO}?as=hang HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n\r\n".encode())
                wait_until(lambda: shop.in_use() == 1, what="the call")
            wait_until(lambda: shop.in_use() == 0, what="the slot")
        wait_until(lambda: shop.seen()["left"] == left + 6, what="the service to hear of it")

    def test_a_reader_who_leaves_an_endless_answer_gives_the_slot_back(self, shop: Replica) -> None:
        for way in ("endless", "large"):
            with httpx.stream("GET", f"{shop.url}{ECHO}?as={way}", timeout=30) as answer:
                next(answer.iter_raw())
            wait_until(lambda: shop.in_use() == 0, what="the slot")

    def test_more_than_its_slots_are_refused_at_once_and_nobody_else_notices(self, shop: Replica) -> None:
        sockets = [socket.create_connection(("127.0.0.1", shop.port)) for _ in range(4)]
        for client in sockets:
            client.sendall(f"GET {ECHO}?as=endless HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n\r\n".encode())
        wait_until(lambda: shop.in_use() == 4, what="the slots")
        refused = shop.ask()
        assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (
            503,
            "service_busy",
            "1",
        )
        assert httpx.get(f"{shop.url}/api/v1/session").status_code == 200
        for client in sockets:
            client.close()
        wait_until(lambda: shop.in_use() == 0, what="the slots")
        assert shop.ask().status_code == 200

    def test_an_early_answer_to_a_body_reaches_its_sender(self, shop: Replica) -> None:
        def slowly() -> Iterator[bytes]:
            for _ in range(50):
                yield b"z" * 100
                time.sleep(0.05)

        answer = shop.ask("refuses bodies", method="POST", content=slowly())
        assert (answer.status_code, answer.json()["code"]) == (413, "enough")


def test_an_address_has_its_share_whatever_it_says_of_itself(exposed: Replica) -> None:
    """Of registrations that are refused too, so that nobody tries e-mails out."""
    wanted = {"email": "a@khach.example", "password": "short", "name": "A"}
    answers = [
        httpx.post(
            f"{exposed.url}/api/v1/accounts",
            json=wanted,
            headers=[("X-Forwarded-For", f"203.0.113.{number}"), ("X-Forwarded-For", "127.0.0.1")],
        )
        for number in range(22)
    ]
    assert [answer.status_code for answer in answers] == [422] * 20 + [429] * 2
    assert (answers[-1].json()["code"], answers[-1].headers["content-type"]) == (
        "too_many_attempts",
        "application/problem+json",
    )
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 600


def test_more_calls_than_one_address_may_make_are_refused_with_the_time_to_wait(exposed: Replica) -> None:
    """Seven hundred, so that even where a window ends in between, one of the two has more than its share."""
    host = f"Host: 127.0.0.1:{exposed.port}\r\n"
    asked = [
        f"GET /api/services/payments/nothing HTTP/1.1\r\n{host}X-Forwarded-For: 203.0.113.{number % 200}\r\n"
        for number in range(700)
    ]
    answers = exposed.raw(("\r\n".join(asked) + "Connection: close\r\n\r\n").encode(), within_s=60)
    assert answers.count(b"HTTP/1.1 404 ") + answers.count(b"HTTP/1.1 429 ") == 700
    assert 300 <= answers.count(b"HTTP/1.1 404 ") <= 600
    assert b'"code":"too_many_requests"' in answers
    waits = {int(found) for found in re.findall(rb"retry-after: (\d+)", answers)}
    assert min(waits) >= 1
    assert max(waits) <= 10
    wait_until(lambda: exposed.ask().status_code == 200, what="the next window")


def test_a_silent_service_is_a_504_then_its_breaker_opens_and_a_drain_ends_event_streams(
    exposed: Replica, tmp_path: Path
) -> None:
    ended: list[str] = []

    def read(url: str) -> None:
        headers = {**EVENTS, **as_told_to(exposed)}
        with httpx.stream("GET", f"{url}{ECHO}?as=endless", timeout=60, headers=headers) as answer:
            ended.append(answer.read().decode()[-9:])

    with balanced(tmp_path, {"app1": exposed.port}) as balancer:
        readers = [threading.Thread(target=read, args=(url,)) for url in (exposed.url, balancer.url)]
        for reader in readers:
            reader.start()
        wait_until(lambda: exposed.in_use() == 2, what="the streams")
        _silent_then_drained(exposed)
        for reader in readers:
            reader.join(timeout=30)
            assert not reader.is_alive()
    assert exposed.process.wait(timeout=30) == 0
    assert len(ended) == 2  # they ended as a stream ends; a cut would have raised


def _silent_then_drained(exposed: Replica) -> None:
    silent = exposed.ask("hang")
    assert (silent.status_code, silent.json()["code"]) == (504, "service_silent")
    codes = {exposed.ask("hang").json()["code"] for _ in range(10)}
    assert codes == {"service_silent", "service_busy"}
    assert int(exposed.ask().headers["retry-after"]) >= 1
    exposed.process.send_signal(signal.SIGTERM)
