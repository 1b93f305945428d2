"""Services as real processes on a real database, and whoever calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from app.clients.faults import FaultSwitches
from app.identity import Caller, Issuer, SigningKey, new_key
from tests.conftest import free_port, wait_until

ROOT: Final = Path(__file__).parents[3]
FAULTS_TOKEN: Final = "a-token-of-the-operator"


@dataclass(frozen=True)
class Keys:
    """The shop's key pair for internal tokens."""

    issuer: Issuer
    private: Path
    public: Path

    @classmethod
    def made(cls, folder: Path) -> Keys:
        """A new pair."""
        private, public = folder / "identity.key", folder / "identity.pub"
        private.touch(0o600)
        private.write_bytes(new_key())
        key = SigningKey.read(private)
        public.write_bytes(key.public_pem())
        return cls(issuer=Issuer(key), private=private, public=public)


@dataclass
class Service:
    """One process of a service, and calls to it."""

    name: str
    port: int
    keys: Keys
    process: subprocess.Popen[bytes]
    log: Path
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=30)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def faults(self) -> FaultSwitches:
        return FaultSwitches(url=self.url, token=FAULTS_TOKEN, timeout_s=30)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        by: Caller | None = None,
        token: str | None = None,
    ) -> httpx.Response:
        """A call for that person, with that token, or for nobody."""
        told = self.keys.issuer.issue(by, audience=self.name) if by is not None else token
        headers = {} if told is None else {"X-Internal-Token": told}
        return self.client.request(method, path, content=json.dumps(body), headers=headers)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/health/readiness", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False


def person(name: str, *, subject: str | None = None, role: str = "customer") -> Caller:
    """Somebody as the shop names them to its services."""
    return Caller(subject=subject or name.lower(), role=role, name=name)


OWNER: Final = person("Chủ", role="owner")


@contextmanager
def served(name: str, keys: Keys, folder: Path, database_url: str, **settings: str) -> Iterator[Service]:
    """A process of it, started; wait for `is_ready`. Ended with the block."""
    given = {
        "DATABASE_URL": database_url,
        "IDENTITY_PUBLIC_KEY": str(keys.public),
        "SHUTDOWN_GRACE": "1s",
        **settings,
    }
    rest = {key: value for key, value in os.environ.items() if not key.startswith("CHOPHO_")}
    environment = {**rest, **{f"CHOPHO_{key}": value for key, value in given.items()}}
    port, log = free_port(), folder / f"{name}.log"
    argv = [sys.executable, "-m", "app", "serve", name, "--port", str(port)]
    with (
        log.open("ab") as out,
        subprocess.Popen(argv, stdout=out, stderr=out, cwd=ROOT, env=environment) as process,
    ):
        service = Service(name, port, keys, process, log)
        try:
            yield service
        finally:
            service.client.close()
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def until_ready(*services: Service) -> None:
    """Return once each of them answers."""
    for service in services:
        wait_until(service.is_ready, within_s=60, what=f"{service.name} ({service.log})")
