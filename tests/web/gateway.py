"""A real replica in front of a service that misbehaves as it is asked, and a client that writes bytes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from app.fleet.state import write_privately
from app.identity import PublicKeys, SigningKey, Verifier, new_key
from tests.conftest import free_port, running, wait_until

ROOT = Path(__file__).parents[2]
ECHO = "/api/services/payments/echo"


@dataclass(frozen=True, kw_only=True)
class Replica:
    """The shop's process, its service, and what verifies the tokens that the service gets."""

    port: int
    service_url: str
    verifier: Verifier
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, way: str = "", method: str = "GET", **options: Any) -> httpx.Response:
        """The answer to the service's way of answering."""
        query = f"?as={quote(way)}" if way else ""
        return httpx.request(method, self.url + ECHO + query, timeout=30, **options)

    def told(self, *headers: tuple[str | bytes, str | bytes], method: str = "GET", **options: Any) -> Head:
        """What the service received."""
        answer = self.ask(method=method, headers=list(headers), **options)
        assert answer.status_code == 200, answer.text
        return Head.of(answer.json())

    def seen(self) -> dict[str, int]:
        """What the service counted, asked by no gateway."""
        found: dict[str, int] = httpx.get(f"{self.service_url}/echo?as=seen").json()
        return found

    def raw(self, data: bytes, *, within_s: float = 10) -> bytes:
        """All that comes back to these bytes until the connection ends, or nothing comes for that long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=within_s) as connection:
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

    def in_use(self) -> int:
        """The slots of the gateway to the service that are held."""
        rows = httpx.get(f"{self.url}/internal/compartments").json()["compartments"]
        return next(int(row["in_use"]) for row in rows if row["name"] == "gateway.payments")


@dataclass(frozen=True, kw_only=True)
class Head:
    """A request as the service got it."""

    line: str
    headers: list[tuple[str, str]]
    begin: str
    size: int

    @classmethod
    def of(cls, told: dict[str, Any]) -> Head:
        line, *rest = told["head"].removesuffix("\r\n\r\n").split("\r\n")
        headers = [(name.lower(), value) for name, _, value in (each.partition(": ") for each in rest)]
        return cls(line=line, headers=headers, begin=told["begin"], size=told["size"])

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.headers]

    def value(self, name: str) -> str:
        """The header's one value."""
        (value,) = (value for known, value in self.headers if known == name)
        return value


@contextmanager
def service() -> Iterator[str]:
    """The URL of one."""
    argv = [sys.executable, "-m", "tests.apps.gateway_service"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


@contextmanager
def replica(
    folder: Path, service_url: str, *, redis: str, database: str, **settings: str
) -> Iterator[Replica]:
    """A replica with the echo of the service, alone behind no balancer."""
    port, key = free_port(), folder / "identity.key"
    write_privately(key, new_key().decode())
    public = SigningKey.read(key).private.public_key()
    given = {
        "DATABASE_URL": database,
        "SESSION_URL": redis,
        "REDIS_URL": redis,
        "SECRET_KEYS": "a key of the tests that is long enough to sign with",
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "COOKIE_SECURE": "false",
        "DRAIN_DELAY": "0s",
        "RATE_LIMIT": "off",
        "PAYMENTS_URL": service_url,
        "IDENTITY_KEY": str(key),
        "GATEWAY_ECHO": "on",
        **settings,
    }
    environment = {f"CHOPHO_{name}": value for name, value in given.items()}
    argv = [sys.executable, "-m", "app", "serve", "shop", "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "log"
    with running(argv, log, environment) as process:
        verifier = Verifier(PublicKeys.of([public]), audience="payments")
        found = Replica(port=port, service_url=service_url, verifier=verifier, log=log, process=process)
        wait_until(lambda: is_ready(found.url), within_s=60, what="the replica")
        yield found


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/readiness").status_code == 200
    except httpx.HTTPError:
        return False


def requests_in(log: Path) -> list[dict[str, Any]]:
    """The lines of the request log."""
    lines = (json.loads(line) for line in log.read_text().splitlines() if line.startswith("{"))
    return [line for line in lines if line.get("logger") == "request"]
