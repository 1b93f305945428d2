"""What haproxy.cfg can be told by its environment, each on a HAProxy of its own in front of two small servers."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import re
import shutil
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_connection

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.fleet.haproxy import ROOT
from app.fleet.runtime import RuntimeApi
from tests.balancers import Balancer, balanced
from tests.conftest import free_port, wait_until

pytestmark = pytest.mark.fleet


class Backend:
    """A server that says its name, and does as the path says: hang, break off, take its time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.served: list[str] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        backend = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if not self.path.startswith("/health/"):
                    backend.serve(self)
                self.answer()

            def do_POST(self) -> None:
                backend.serve(self)
                self.answer()

            def answer(self) -> None:
                if "break" in self.path:
                    self.close_connection = True
                    return
                body = backend.name.encode()
                self.send_response(200)
                self.send_header("X-Served-By", backend.name)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Say nothing."""

            def log_error(self, format: str, *args: object) -> None:  # noqa: A002 -- its name for it
                """Say nothing either."""

        return Handler

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.served.append(request.path)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        found = re.search(r"slow=([0-9.]+)", request.path)
        time.sleep(float(found[1]) if found else 0)
        with self._lock:
            self.at_once -= 1


@contextmanager
def served(backend: Backend) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), backend.handler()) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Door:
    """HAProxy on haproxy.cfg with that environment, and its two servers."""

    def __init__(self, balancer: Balancer, backends: tuple[Backend, Backend]) -> None:
        self.url, self.log, self.socket = balancer.url, balancer.log, balancer.runtime.socket
        self.backends = backends
        self.pay = Backend("pay1")


@contextmanager
def door(folder: Path, **environment: str) -> Iterator[Door]:
    with ExitStack() as stack:
        backends = (Backend("app1"), Backend("app2"))
        ports = {one.name: stack.enter_context(served(one)) for one in backends}
        balancer = stack.enter_context(balanced(folder, ports, **environment))
        opened = Door(balancer, backends)
        if "LB_CHECKOUT" in environment:
            at = stack.enter_context(served(opened.pay))
            server = "set server checkout_servers/pay1"
            asyncio.run(balancer.runtime.ask(f"{server} addr 127.0.0.1 port {at}", f"{server} state ready"))
        yield opened


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """As it is, but that checkout has a replica of its own."""
    with door(tmp_path_factory.mktemp("door"), LB_CHECKOUT="1", LB_RETRIES="0") as opened:
        yield opened


class TestWhatHaproxyHasToSayItself:
    """Pages for people, problem+json for programs, both ours and both with Retry-After."""

    def test_a_broken_answer(self, plain: Door) -> None:
        page = httpx.post(f"{plain.url}/break")
        assert (page.status_code, page.headers["content-type"]) == (502, "text/html; charset=utf-8")
        assert "Chợ Phố" in page.text
        assert "style-src 'sha256-" in page.headers["content-security-policy"]
        problem = httpx.post(f"{plain.url}/api/v1/break")
        assert (problem.status_code, problem.headers["content-type"]) == (502, "application/problem+json")
        assert problem.json()["code"] == "bad_gateway"
        for answer in (page, problem):
            assert (answer.headers["retry-after"], answer.headers["x-served-by"]) == ("2", "haproxy")

    def test_an_answer_that_does_not_come_in_time(self, plain: Door) -> None:
        with httpx.Client(base_url=plain.url, timeout=30) as client:
            page, problem = client.get("/slow=4"), client.get("/api/v1/slow=4")
        assert (page.status_code, problem.status_code) == (504, 504)
        assert problem.json()["code"] == "gateway_timeout"
        assert "<html" in page.text

    def test_what_is_no_request_gets_haproxys_own_400_and_nothing_about_us(self, plain: Door) -> None:
        """Its parser answers from a text that is compiled into it: no error file is asked, whoever sent it."""
        for said in (b"GET /api/v1/x HTTP/1.1\r\nno header\r\n\r\n", b"\x16\x03\x01 hello\r\n\r\n"):
            at = ("127.0.0.1", httpx.URL(plain.url).port or 0)
            with closing(create_connection(at, timeout=20)) as connection:
                connection.sendall(said)
                head, _, body = b"".join(iter(partial(connection.recv, 65536), b"")).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ")
            assert b"cache-control: no-cache" in head.lower()
            assert len(body) < 200
            assert b"haproxy" not in (head + body).lower()

    def test_a_replicas_own_refusal_keeps_its_type(self, plain: Door) -> None:
        assert httpx.get(f"{plain.url}/api/v1/x").headers.get("content-type") is None


def test_every_line_for_people_is_the_page_of_that_status() -> None:
    answers = dict(
        line.split(" ", 1)
        for line in (ROOT / "deploy/haproxy/answers.map").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
    for status in (502, 503, 504):
        page = (ROOT / f"deploy/haproxy/{status}.http").read_bytes().decode().partition("\r\n\r\n")[2]
        assert answers[f"page{status}"] == " ".join(page.split("\n")).strip()
    assert set(answers) == {f"{who}{status}" for who in ("page", "api") for status in (502, 503, 504)}


def test_checkout_goes_to_its_own_replica_and_to_any_when_that_is_gone(plain: Door) -> None:
    def served_by(path: str) -> set[str]:
        return {httpx.get(f"{plain.url}{path}").headers["x-served-by"] for _ in range(4)}

    for path in ("/thanh-toan", "/thanh-toan/x", "/api/v1/orders"):
        assert served_by(path) == {"pay1"}
    for path in ("/", "/thanh-toan-khac", "/api/v1/products"):
        assert served_by(path) == {"app1", "app2"}
    asyncio.run(RuntimeApi(plain.socket).ask("set server checkout_servers/pay1 state maint"))
    assert served_by("/thanh-toan") == {"app1", "app2"}
    asyncio.run(RuntimeApi(plain.socket).ask("set server checkout_servers/pay1 state ready"))


@pytest.mark.parametrize("name", ["chopho_session", "__Host-chopho_session"])
def test_the_log_tells_visitors_apart_and_nobody_can_be_them(plain: Door, name: str) -> None:
    answer = httpx.get(f"{plain.url}/", headers={"Cookie": f'{name}=r1.Abc"defGHI; other=secret'})
    wait_until(
        lambda: answer.headers["x-request-id"] in plain.log.read_text(),
        within_s=60,
        what="the line of the log",
    )
    line = next(line for line in plain.log.read_text().splitlines() if answer.headers["x-request-id"] in line)
    assert line.endswith('GET "/" "r1.Abc"')
    assert "app_servers/app" in line


def test_a_crowd_beyond_the_queue_is_told_to_come_again_and_no_server_gets_more_than_its_share(
    tmp_path: Path,
) -> None:
    with door(tmp_path, LB_SERVER_MAXCONN="2") as opened:

        async def crowd() -> list[httpx.Response]:
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(base_url=opened.url, timeout=30, limits=limits) as client:
                return list(await asyncio.gather(*(client.post(f"/slow=1.2&n={n}") for n in range(20))))

        answers = asyncio.run(crowd())
    refused = [answer for answer in answers if answer.status_code == 503]
    assert {answer.status_code for answer in answers} == {200, 503}
    assert all(answer.headers["retry-after"] == "5" and "Chợ Phố" in answer.text for answer in refused)
    assert all(backend.most_at_once <= 2 for backend in opened.backends)


def test_a_client_that_asks_too_much_waits_and_is_told_how_long(tmp_path: Path) -> None:
    with door(tmp_path, LB_RATE_LIMIT="20") as opened, httpx.Client(base_url=opened.url) as client:
        assert {client.get("/").status_code for _ in range(20)} == {200}
        page, problem = client.get("/"), client.get("/api/v1/cart")
    assert (page.status_code, "Chợ Phố" in page.text) == (429, True)
    assert (problem.status_code, problem.json()["code"]) == (429, "too_many_requests")
    assert problem.headers["retry-after"] == "10"


def test_a_sticky_visitor_stays_and_moves_when_the_replica_is_gone(tmp_path: Path) -> None:
    with (
        door(tmp_path, LB_STICKY="a key", LB_BALANCE="leastconn") as opened,
        httpx.Client(base_url=opened.url) as client,
    ):
        first = client.get("/").headers["x-served-by"]
        assert {client.get("/").headers["x-served-by"] for _ in range(6)} == {first}
        asyncio.run(RuntimeApi(opened.socket).leave(first))
        assert client.get("/").headers["x-served-by"] != first


def test_with_a_certificate_everybody_is_sent_to_tls_and_stays_there(tmp_path: Path) -> None:
    tls, authority = free_port(), tmp_path / "ca.pem"
    certificate = make_certificate(tmp_path)
    shutil.copy(certificate, authority)
    origin = f"https://127.0.0.1:{tls}"
    with door(
        tmp_path, LB_TLS_CERT=str(certificate), LB_TLS_BIND=f"127.0.0.1:{tls}", LB_TLS_ORIGIN=origin
    ) as opened:
        sent = httpx.get(f"{opened.url}/gio-hang?x=1", headers={"Host": "evil.example"})
        assert (sent.status_code, sent.headers["location"]) == (308, f"{origin}/gio-hang?x=1")
        trusting = ssl.create_default_context(cafile=str(authority))
        there = httpx.get(f"{origin}/gio-hang", verify=trusting)
        assert there.status_code == 200
        assert there.headers["strict-transport-security"].startswith("max-age=63072000")
        assert "strict-transport-security" not in sent.headers
        old = ssl.create_default_context(cafile=str(authority))
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert httpx.get(f"{origin}/", verify=old).status_code == 200
        # The street still does not see what replicas tell about themselves.
        assert httpx.get(f"{origin}/metrics", verify=trusting).status_code == 404


def make_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, in one file as HAProxy wants them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "chopho test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return file
