"""The acquirer as a real process on a real PostgreSQL, and a merchant who calls it."""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.fleet.postgres import PostgresServer
from app.identity import Caller, Issuer, SigningKey, new_key
from tests.conftest import free_port, wait_until

ROOT = Path(__file__).parents[3]
FAULTS_TOKEN = "a-token-of-the-operator"
SECRET = "s" * 40


@dataclass(frozen=True)
class Keys:
    """The shop's key pair for internal tokens."""

    issuer: Issuer
    public: Path

    def token(self, *, audience: str = "payments", role: str = "service") -> str:
        """What the shop sends along."""
        return self.issuer.issue(Caller(subject="shop", role=role), audience=audience)


@pytest.fixture(scope="package")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    private, public = folder / "identity.key", folder / "identity.pub"
    private.touch(0o600)
    private.write_bytes(new_key())
    key = SigningKey.read(private)
    public.write_bytes(key.public_pem())
    return Keys(issuer=Issuer(key), public=public)


@dataclass
class Acquirer:
    """One process of the service, and a merchant's calls to it."""

    port: int
    keys: Keys
    process: subprocess.Popen[bytes]
    log: Path
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=20, limits=httpx.Limits(max_connections=200))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> dict[str, str]:
        return {"X-Internal-Token": self.keys.token()}

    def post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> httpx.Response:
        headers = {**self.token, "Idempotency-Key": key or secrets.token_hex(8)}
        return self.client.post(f"/v1{path}", json=body, headers=headers)

    def until_done(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """As a merchant does: the same request with the same key, until it has an answer."""
        key = secrets.token_hex(8)
        while True:
            answer = self.post(path, body, key)
            if answer.status_code != 503 and answer.json().get("code") != "key_in_progress":
                return answer
            time.sleep(0.1)

    def authorise(
        self,
        reference: str | None = None,
        *,
        amount: int = 250_000,
        token: str = "tok_ok",  # noqa: S107 -- a test card
        key: str | None = None,
        return_url: str | None = None,
    ) -> httpx.Response:
        body = {
            "merchant_reference": reference or secrets.token_hex(8),
            "amount": amount,
            "currency": "VND",
            "token": token,
            "return_url": return_url,
        }
        return self.post("/payments", body, key)

    def find(self, reference: str) -> dict[str, Any]:
        return self.get(f"/payments?merchant_reference={reference}")

    def ledger(self) -> dict[str, Any]:
        return self.get("/ledger")

    def get(self, path: str) -> dict[str, Any]:
        answer = self.client.get(f"/v1{path}", headers=self.token)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def fault(self, **fault: Any) -> None:
        headers = {"Authorization": f"Bearer {FAULTS_TOKEN}"}
        assert self.client.put("/faults", json=fault, headers=headers).status_code == 200


Start = Callable[..., Acquirer]


@contextmanager
def starter(database_url: str, keys: Keys, folder: Path) -> Iterator[Start]:
    """Starts processes on that database, with the settings given; ends them with the block."""
    with ExitStack() as processes:

        def starting(*, port: int | None = None, wait: bool = True, **settings: str) -> Acquirer:
            given = {
                "DATABASE_URL": database_url,
                "IDENTITY_PUBLIC_KEY": str(keys.public),
                "SHUTDOWN_GRACE": "1s",
                **settings,
            }
            environment = {f"CHOPHO_{name}": value for name, value in given.items()}
            acquirer = processes.enter_context(
                _process(port or free_port(), environment, keys, folder / "payments.log")
            )
            if wait:
                wait_until(lambda: is_ready(acquirer), within_s=60, what=f"the acquirer ({acquirer.log})")
            return acquirer

        yield starting


@pytest.fixture
def start(empty_database_url: str, keys: Keys, tmp_path: Path) -> Iterator[Start]:
    """Starts processes on this test's own database."""
    with starter(empty_database_url, keys, tmp_path) as starting:
        yield starting


@pytest.fixture(scope="package")
def shared(
    postgres_server: PostgresServer, keys: Keys, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[Acquirer]]]:
    """Two processes on one database, for the tests that leave them as they were."""
    folder = tmp_path_factory.mktemp("payments")
    url = postgres_server.url()
    with starter(url, keys, folder) as starting:
        yield url, [starting(FAULTS_TOKEN=FAULTS_TOKEN), starting(PAYMENTS_SLOW="1500ms")]


@pytest.fixture
def acquirers(shared: tuple[str, list[Acquirer]]) -> list[Acquirer]:
    """Two processes on one database without payments; the first has fault switches, all of them off."""
    url, processes = shared
    with psycopg.connect(plain(url), autocommit=True) as connection:
        tables = "payments, transfers, requests, closed_references, events, deliveries"
        connection.execute("TRUNCATE " + ", ".join(f"payments.{name}" for name in tables.split(", ")))
    processes[0].client.delete("/faults", headers={"Authorization": f"Bearer {FAULTS_TOKEN}"})
    return processes


@pytest.fixture
def acquirer(acquirers: list[Acquirer]) -> Acquirer:
    """One of them, without fault switches."""
    return acquirers[1]


def plain(url: str) -> str:
    """The URL as psycopg itself reads it."""
    return url.replace("+psycopg", "")


@contextmanager
def _process(port: int, environment: Mapping[str, str], keys: Keys, log: Path) -> Iterator[Acquirer]:
    argv = [sys.executable, "-m", "app", "serve", "payments", "--port", str(port)]
    rest = {name: value for name, value in os.environ.items() if not name.startswith("CHOPHO_")}
    with (
        log.open("ab") as out,
        subprocess.Popen(argv, stdout=out, stderr=out, cwd=ROOT, env={**rest, **environment}) as process,
    ):
        acquirer = Acquirer(port, keys, process, log)
        try:
            yield acquirer
        finally:
            acquirer.client.close()
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def is_ready(acquirer: Acquirer) -> bool:
    assert acquirer.process.poll() is None, acquirer.log.read_text()
    try:
        return httpx.get(f"{acquirer.url}/health/readiness", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@dataclass(frozen=True)
class Call:
    """A webhook as it arrived."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event


class Receiver:
    """A consumer of webhooks: keeps what comes; `answers` says what it answers next, 204 by default."""

    def __init__(self, *, sleep_s: float = 0) -> None:
        self.calls: list[Call] = []
        self.answers: list[int] = []
        self.most_at_once = 0
        receiver, lock, now = self, threading.Lock(), [0]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with lock:
                    now[0] += 1
                    receiver.most_at_once = max(receiver.most_at_once, now[0])
                    receiver.calls.append(
                        Call({name.lower(): value for name, value in self.headers.items()}, body)
                    )
                    status = receiver.answers.pop(0) if receiver.answers else 204
                if sleep_s:
                    select.select([self.connection], [], [], sleep_s)  # readable once the caller has left
                with lock:
                    now[0] -= 1
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/webhooks"

    def events(self) -> list[str]:
        return [call.event["type"] for call in list(self.calls)]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A consumer that acknowledges."""
    receiver = Receiver()
    yield receiver
    receiver.close()
