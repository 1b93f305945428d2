"""A replica of the shop with every service around it, as real processes, and a Redis for its copies alone."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import redis

from tests.conftest import free_port, wait_until
from tests.integration.services.processes import ROOT, Keys, Service

PASSWORD: Final = "mat-khau-dai"
COPIES: Final = "chopho:copies:"


@dataclass
class Person:
    """Somebody with an account, a browser and an API client, which share their cookies."""

    client: httpx.Client
    email: str
    name: str


@dataclass
class Shop:
    """One replica."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    cache: redis.Redis
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=60)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/health/readiness", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def product(self, slug: str) -> httpx.Response:
        """As programs see it."""
        return self.client.get(f"/api/v1/products/{slug}")

    def whole(self, slug: str) -> dict[str, Any]:
        """The product once nothing of it is missing."""
        answers: list[dict[str, Any]] = []

        def is_whole() -> bool:
            answers.append(self.product(slug).json())
            return not answers[-1]["degraded"]

        wait_until(is_whole, within_s=60, what="a whole product page")
        return answers[-1]

    def copied(self, slug: str) -> dict[str, Any]:
        """The same, once the copies of that very answer are kept: nothing is on its way to the cache any more."""
        for name in ("reviews", "inventory"):
            if self.copy_of(name, slug) is None:  # nor was one dropped just now, which keeps others out
                self.cache.delete(f"{COPIES}{name}:{slug}")
        self.whole(slug)
        asked_at = time.time() - 0.001  # a copy's time has three decimals
        told = self.whole(slug)
        wait_until(
            lambda: all(self.copy_made_at(name, slug) >= asked_at for name in ("reviews", "inventory")),
            what="copies",
        )
        return told

    def copy_made_at(self, dependency: str, slug: str) -> float:
        return float((self.copy_of(dependency, slug) or b"0").partition(b"\n")[0])

    def copy_of(self, dependency: str, slug: str) -> bytes | None:
        found: bytes | None = self.cache.get(f"{COPIES}{dependency}:{slug}")  # type: ignore[assignment]  # asked at once
        return None if found == b"-" else found

    def age_copy(self, dependency: str, slug: str, by_s: float) -> None:
        """Let the copy look so much older."""
        made_at, _, value = (self.copy_of(dependency, slug) or b"").partition(b"\n")
        self.cache.set(f"{COPIES}{dependency}:{slug}", b"%.3f\n%b" % (float(made_at) - by_s, value))

    def drop_copies(self) -> None:
        self.cache.flushall()

    @contextmanager
    def person(self, name: str) -> Iterator[Person]:
        """Somebody who is logged in."""
        email = f"{secrets.token_hex(6)}@khach.example"
        with httpx.Client(base_url=self.url, timeout=60, headers={"accept": "text/html"}) as client:
            account = {"email": email, "password": PASSWORD, "name": name}
            assert client.post("/api/v1/accounts", json=account).status_code == 201
            credentials = {"email": email, "password": PASSWORD}
            assert client.post("/api/v1/session", json=credentials).status_code == 200
            yield Person(client, email, name)


@contextmanager
def shop_served(
    keys: Keys,
    folder: Path,
    *,
    database_url: str,
    redis_url: str,
    cache_url: str,
    services: dict[str, Service],
) -> Iterator[Shop]:
    """A replica that knows those services."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    given = {
        "DATABASE_URL": database_url,
        "SESSION_URL": redis_url,
        "REDIS_URL": redis_url,
        "CACHE_URL": cache_url,
        "CACHE_TIMEOUT": "1s",
        "CACHE_KEEP_EVERY": "0s",
        "SECRET_KEYS": "a key of the tests that is long enough to sign with",
        "PUBLIC_URL": url,
        "COOKIE_SECURE": "false",
        "RATE_LIMIT": "off",
        "IDENTITY_KEY": str(keys.private),
        "DRAIN_DELAY": "0s",
        "SHUTDOWN_GRACE": "1s",
        **{f"{name.upper()}_URL": service.url for name, service in services.items()},
        **{f"{name.upper()}_TIMEOUT": "2s" for name in services},
    }
    rest = {key: value for key, value in os.environ.items() if not key.startswith("CHOPHO_")}
    environment = {**rest, **{f"CHOPHO_{key}": value for key, value in given.items()}}
    log = folder / "shop.log"
    argv = [sys.executable, "-m", "app", "serve", "shop", "--port", str(port)]
    with (
        log.open("ab") as out,
        subprocess.Popen(argv, stdout=out, stderr=out, cwd=ROOT, env=environment) as process,
        redis.Redis.from_url(cache_url) as cache,
    ):
        shop = Shop(url, process, log, cache)
        try:
            wait_until(shop.is_ready, within_s=60, what=f"the shop ({log})")
            yield shop
        finally:
            shop.client.close()
            process.kill()
