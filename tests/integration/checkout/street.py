"""Replicas as processes, an acquirer that calls them, and shoppers who come through any of them."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, Self

import httpx
import psycopg

from tests.conftest import free_port, wait_until
from tests.integration.payments.conftest import ROOT, SECRET, Acquirer, plain

PASSWORD = "mat-khau-dai"
PRICE = 1000
SHIPPING = {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc, Hà Nội"}


@dataclass
class Replica:
    """One process of the shop."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def wait_until_ready(self) -> None:
        wait_until(lambda: is_ready(self), within_s=120, what=f"a replica ({self.log})")

    def kill(self) -> None:
        """As the kernel does when memory runs out."""
        self.process.kill()
        self.process.wait(20)


@dataclass
class Street:
    """Everything there is; all replicas are one shop at one address."""

    database_url: str
    redis_url: str
    folder: Path
    host: str
    acquirer: Acquirer
    replicas: list[Replica] = field(default_factory=list)

    @contextmanager
    def replica(self, port: int | None = None, *, wait: bool = True, **settings: str) -> Iterator[Replica]:
        """One more replica for the block; without waiting it may still be starting."""
        port = port or free_port()
        given = {
            "DATABASE_URL": self.database_url,
            "SESSION_URL": self.redis_url,
            "REDIS_URL": self.redis_url,
            "SECRET_KEYS": "a key of the tests that is long enough to sign with",
            "PUBLIC_URL": f"http://{self.host}",
            "COOKIE_SECURE": "false",
            "RATE_LIMIT": "off",
            "DRAIN_DELAY": "0s",
            "PAYMENTS_URL": self.acquirer.url,
            "PAYMENTS_WEBHOOK_SECRETS": SECRET,
            "IDENTITY_KEY": str(self.folder / "identity.key"),
            "CHECKOUT_LEASE": "3s",
            "RECOVERY_INTERVAL": "200ms",
            **settings,
        }
        rest = {name: value for name, value in os.environ.items() if not name.startswith("CHOPHO_")}
        environment = rest | {f"CHOPHO_{name}": value for name, value in given.items()}
        argv = [sys.executable, "-m", "app", "serve", "shop", "--port", str(port)]
        log = self.folder / f"replica-{port}.log"
        with (
            log.open("ab") as out,
            subprocess.Popen(argv, stdout=out, stderr=out, cwd=ROOT, env=environment) as process,
        ):
            replica = Replica(port, process, log)
            try:
                if wait:
                    replica.wait_until_ready()
                yield replica
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGQUIT)
                    try:
                        process.wait(timeout=40)
                    except subprocess.TimeoutExpired:
                        process.kill()

    def reset(self, stock: int = 100) -> None:
        """Nobody has ordered yet."""
        self.run(
            "TRUNCATE payments.payments, payments.transfers, payments.requests, payments.closed_references,"
            " payments.events, payments.deliveries, orders, order_lines, order_keys, order_events,"
            " reservations, order_payments, outbox CASCADE"
        )
        self.run("UPDATE variants SET stock = %s", stock)

    def run(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        with psycopg.connect(plain(self.database_url), autocommit=True) as connection:
            done = connection.execute(statement.encode(), values or None)
            return done.fetchall() if done.description else []

    def statuses(self) -> list[str]:
        rows = self.run("SELECT status FROM orders ORDER BY sequence")
        return [status for (status,) in rows if status != "failed"]

    def held(self) -> int:
        """How often somebody's money is held or taken."""
        ((held,),) = self.run(
            "SELECT count(*) FROM payments.payments WHERE status IN ('authorised', 'captured')"
        )
        return int(held)

    def stock(self) -> int:
        ((stock,),) = self.run("SELECT stock FROM variants WHERE sku = 'A'")
        return int(stock)

    def settled(self) -> None:
        """Wait until nothing is left to be finished or undone but what waits for its shopper."""

        def is_settled() -> bool:
            ((left,),) = self.run(
                "SELECT count(*) FROM order_payments JOIN orders ON orders.id = order_id"
                " WHERE due_at IS NOT NULL AND orders.status <> 'awaiting_payment'"
            )
            return bool(left == 0)

        wait_until(is_settled, within_s=90, what="the recovery")

    def shopper(self) -> Shopper:
        return Shopper(self)


class Shopper:
    """Somebody with an account and one cookie jar for all replicas."""

    def __init__(self, street: Street) -> None:
        self._street = street
        self.client = httpx.AsyncClient(
            timeout=30, headers={"host": street.host, "accept": "text/html"}, trust_env=False
        )

    async def __aenter__(self) -> Self:
        account = {"email": f"{secrets.token_hex(6)}@khach.example", "password": PASSWORD, "name": "Ánh"}
        await self.post("/api/v1/accounts", account)
        account.pop("name")
        answer = await self.post("/api/v1/session", account)
        assert answer.status_code == 200, answer.text
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def url(self, path: str, replica: Replica | None = None) -> str:
        return f"http://127.0.0.1:{(replica or self._street.replicas[0]).port}{path}"

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        replica: Replica | None = None,
        key: str | None = None,
        timeout_s: float = 30,
    ) -> httpx.Response:
        headers = {} if key is None else {"idempotency-key": key}
        return await self.client.post(self.url(path, replica), json=body, headers=headers, timeout=timeout_s)

    async def get(self, path: str, *, replica: Replica | None = None) -> httpx.Response:
        return await self.client.get(self.url(path, replica))

    async def fill(self, quantity: int = 1) -> None:
        answer = await self.post("/api/v1/cart/items", {"sku": "A", "quantity": quantity})
        assert answer.status_code == 200, answer.text

    async def cart(self) -> int:
        return int((await self.get("/api/v1/cart")).json()["count"])

    async def buy(
        self,
        token: str = "tok_ok",  # noqa: S107 -- a test card
        *,
        key: str = "key",
        replica: Replica | None = None,
        total: int = PRICE,
        timeout_s: float = 30,
    ) -> httpx.Response:
        body = {"shipping": SHIPPING, "payment": {"token": token}, "expected_total": total}
        return await self.post("/api/v1/orders", body, replica=replica, key=key, timeout_s=timeout_s)


def is_ready(replica: Replica) -> bool:
    assert replica.process.poll() is None, replica.log.read_text()
    try:
        url = f"http://127.0.0.1:{replica.port}/health/readiness"
        return httpx.get(url, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def hidden(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form with that action."""
    form = page.split(f'action="{action}"')[1].split("</form>", maxsplit=1)[0]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)
    return {name: unescape(value) for name, value in found}
