"""The shop's whole cart route beside the bare one: ``python -m bench.sessions.cart_route``.

The bare route reads the session and answers its 10 lines as JSON. `GET /api/v1/cart` of a replica as it ships does the same
with names and prices, behind everything that a request to the shop passes. Both on one Redis, by turns; CPU of the server
processes alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psutil
from sqlalchemy import select

from app.stores.database import Database, DatabaseConfig
from app.stores.sample.catalog import load_sample
from app.stores.tables import variants
from bench.database import own_database
from bench.sessions.load import fetch, load
from bench.sessions.peers import PEERS, ROOT, Peer, Running, running
from bench.sessions.servers import free_port, redis_running

BUDGET: Final = 1.15
CART: Final = "/api/v1/cart"
LINES: Final = 10
_ACCOUNT: Final = {"email": "anh@chopho.example", "password": "mat-khau-dai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route as one browser asks for it."""

    name: str
    server: Running
    path: str
    cookie: str | None

    def cpu_us(self, *, connections: int, seconds: float) -> float:
        """CPU microseconds of the server for one request."""
        body, _ = fetch(self.server.port, self.path, self.cookie)
        before = self.server.cpu_s()
        seen = load(self.server.port, self.path, self.cookie, body, connections=connections, seconds=seconds)
        return 1e6 * (self.server.cpu_s() - before) / seen.requests


def main() -> None:
    """Start both, measure by turns, print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--turns", type=int, default=20, help="turns of each route (default 20)")
    words.add_argument("--seconds", type=float, default=0.5, help="seconds of one turn (default 0.5)")
    words.add_argument("--connections", type=int, default=16, help="connections (default 16)")
    given = words.parse_args()
    with own_database() as database, redis_running() as redis, tempfile.TemporaryDirectory() as folder:
        skus = asyncio.run(_filled(database))
        with (
            running(PEERS[0], free_port(), redis.url, Path(folder) / "bare") as bare,
            _shop(database, redis.url, Path(folder) / "shop") as shop,
        ):
            routes = _routes(bare, shop, skus)
            turns: dict[str, list[float]] = {route.name: [] for route in routes}
            for _ in range(given.turns + 1):
                for route in routes:
                    cost = route.cpu_us(connections=given.connections, seconds=given.seconds)
                    turns[route.name].append(cost)
    _tell({name: statistics.median(costs[1:]) for name, costs in turns.items()})  # the first warms up


def _tell(costs: Mapping[str, float]) -> None:
    bare = costs["bare"]
    print(f"{'route':<24} {'CPU µs/req':>11} {'× bare':>7}   (budget {BUDGET})")
    for name, cost in costs.items():
        print(f"{name:<24} {cost:>11.0f} {cost / bare:>7.2f}")


async def _filled(url: str) -> list[str]:
    """SKUs of the sample catalogue."""
    database = Database(DatabaseConfig(url=url))
    try:
        await load_sample(database)
        found = select(variants.c.sku).where(variants.c.stock > 0).order_by(variants.c.sku).limit(LINES)
        return [row.sku for row in await database.rows(found)]
    finally:
        await database.close()


@contextmanager
def _shop(database: str, redis: str, log: Path) -> Iterator[Running]:
    """A replica as it ships, but for the limit of one address's requests: all of these come from one."""
    peer, port = (
        Peer(name="shop", words=(sys.executable, "-m", "app", "serve", "--port", "{port}")),
        free_port(),
    )
    told = {
        "DATABASE_URL": database,
        "SESSION_URL": redis,
        "REDIS_URL": redis,
        "COOKIE_SECURE": "false",
        "SECRET_KEYS": "bench-" * 8,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "RATE_LIMIT": "false",
        "DRAIN_DELAY": "0s",
    }
    environment = {**os.environ, **{f"CHOPHO_{name}": value for name, value in told.items()}}
    with log.open("ab") as out:
        process = psutil.Popen(peer.command(port), cwd=ROOT, env=environment, stdout=out, stderr=out)
    try:
        _await(port, log)
        yield Running(peer=peer, port=port, process=process)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _await(port: int, log: Path) -> None:
    for _ in range(600):
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/health/readiness").status_code == 200:
                return
        time.sleep(0.05)
    raise SystemExit(f"the shop does not get ready: {log.read_text()[-2000:]}")


def _routes(bare: Running, shop: Running, skus: Sequence[str]) -> Sequence[Route]:
    """The bare one, the cart of somebody who only looks around, and an account's."""
    _, filled = fetch(bare.port, f"/fill?n={LINES}")
    return [
        Route(name="bare", server=bare, path="/cart", cookie=filled),
        *(
            Route(
                name=f"cart of {who}",
                server=shop,
                path=CART,
                cookie=_cookie(shop, skus, logged_in=who == "an account"),
            )
            for who in ("a visitor", "an account")
        ),
    ]


def _cookie(shop: Running, skus: Sequence[str], *, logged_in: bool) -> str:
    """The cookie of a browser whose cart is full."""
    with httpx.Client(base_url=f"http://127.0.0.1:{shop.port}") as browser:
        if logged_in:
            browser.post("/api/v1/accounts", json={**_ACCOUNT, "name": "Ánh"}).raise_for_status()
            browser.post("/api/v1/session", json=_ACCOUNT).raise_for_status()
        for sku in skus:
            browser.post("/api/v1/cart/items", json={"sku": sku, "quantity": 1}).raise_for_status()
        shown = browser.get(CART).raise_for_status().json()["lines"]
        if len(shown) != LINES:
            raise SystemExit(f"the cart has {len(shown)} lines")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


if __name__ == "__main__":
    main()
