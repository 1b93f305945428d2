"""One replica of the shop as a real process: what is slow in it takes nothing along that does not share it."""

from __future__ import annotations

import asyncio
import inspect
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import httpx
import psutil
import psycopg
import pytest
from starlette.routing import BaseRoute, Mount, Route

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.main import create_app
from app.observability.background import in_background
from app.settings import Settings, read
from app.wiring import build
from tests.conftest import free_port, running, wait_until

ROOT = Path(__file__).parents[2]
PASSWORD: Final = "chopho-demo-2026"
EMAIL: Final = "khach@chopho.example"
PROBES: Final = ("/health/liveness", "/health/readiness")


@dataclass(frozen=True)
class Shop:
    """A replica, and the database that is its own."""

    url: str
    database: PostgresServer
    postgres: psutil.Process

    @contextmanager
    def products_locked(self) -> Iterator[None]:
        """Every page with products in it waits as long as the block lasts, or until it gives up."""
        with psycopg.connect(self.database.url().replace("+psycopg", "")) as connection:
            connection.execute("LOCK TABLE products, variants IN ACCESS EXCLUSIVE MODE")
            yield
            connection.rollback()

    @contextmanager
    def database_hung(self) -> Iterator[None]:
        """The database and all of its processes stand still for the block."""
        family = [self.postgres, *self.postgres.children(recursive=True)]
        for process in family:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in reversed(family):
                process.send_signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, lasting_redis_url: str) -> Iterator[Shop]:
    """With the sample catalogue and the demo accounts."""
    folder = tmp_path_factory.mktemp("shop")
    server = PostgresServer(
        programs=Programs().find_postgres_bin(),
        data=folder / "data",
        port=free_port(),
        password=secrets.token_hex(16),
    )
    server.initialise()
    with running(server.argv("-c", "fsync=off"), folder / "postgres.log") as postgres:
        wait_until(lambda: _accepts(server), what="PostgreSQL")
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {**os.environ, **given(lasting_redis_url, server.url(), url)}
        subprocess.run([sys.executable, "-m", "app", "migrate", "--sample-data"], env=environment, check=True)
        argv = [sys.executable, "-m", "app", "serve", "shop", "--port", str(port)]
        with (
            (folder / "shop.log").open("wb") as log,
            subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=log, stderr=log) as replica,
        ):
            try:
                wait_until(lambda: _is_ready(url), within_s=60, what="the replica")
                yield Shop(url, server, _postmaster(postgres))
            finally:
                replica.kill()


def given(redis_url: str, database_url: str, url: str) -> dict[str, str]:
    """The settings of a replica at that URL."""
    values = {
        "DATABASE_URL": database_url,
        "SESSION_URL": redis_url,
        "REDIS_URL": redis_url,
        "SECRET_KEYS": "a key of the tests that is long enough to sign with",
        "PUBLIC_URL": url,
        "COOKIE_SECURE": "false",
        "RATE_LIMIT": "off",
    }
    return {f"CHOPHO_{name}": value for name, value in values.items()}


@dataclass
class Prober:
    """Asks both probes every 50 ms, as a balancer might, and keeps what they said."""

    url: str
    said: list[int] = field(default_factory=list)

    async def run(self) -> None:
        """Until cancelled."""
        async with httpx.AsyncClient(base_url=self.url, timeout=30) as client:
            while True:
                self.said += [(await client.get(path)).status_code for path in PROBES]
                await asyncio.sleep(0.05)


async def log_in(client: httpx.AsyncClient) -> int:
    return (await client.post("/api/v1/session", json={"email": EMAIL, "password": PASSWORD})).status_code


async def searches(client: httpx.AsyncClient, over: asyncio.Event) -> list[httpx.Response]:
    """One after the other until it is over."""
    answers = []
    while not over.is_set():
        answers.append(await client.get("/tim-kiem"))
    return answers


async def test_a_hundred_slow_pages_delay_neither_a_log_in_nor_a_probe(shop: Shop) -> None:
    """The pages wait for a lock in the database until they give up; probes and log-ins are served beside them."""
    limits = httpx.Limits(max_connections=200)
    over = asyncio.Event()
    async with httpx.AsyncClient(base_url=shop.url, timeout=30, limits=limits) as client:
        prober = Prober(shop.url)
        with shop.products_locked():
            shoppers = [asyncio.create_task(searches(client, over)) for _ in range(100)]
            async with in_background(prober.run()):
                await asyncio.to_thread(wait_until, lambda: _in_use(shop.url) == 10, what="slow pages")
                before = len(prober.said)
                logged_in = [await log_in(client) for _ in range(3)]
                probed = len(prober.said) - before
                # They were slow all the time: nobody has let go of the lock.
                await asyncio.to_thread(wait_until, lambda: _in_use(shop.url) == 10, what="slow pages still")
            over.set()
            refused = chain.from_iterable(await asyncio.gather(*shoppers))
    assert logged_in == [200, 200, 200]
    assert {page.status_code for page in refused} == {503}
    assert set(prober.said) == {200}
    assert probed >= len(PROBES)


async def test_a_stopped_database_leaves_probes_and_the_pages_that_need_none_alone(shop: Shop) -> None:
    over = asyncio.Event()
    async with httpx.AsyncClient(base_url=shop.url, timeout=30) as client:
        prober = Prober(shop.url)
        with shop.database_hung():
            shoppers = [asyncio.create_task(searches(client, over)) for _ in range(20)]
            async with in_background(prober.run()):
                await asyncio.to_thread(wait_until, lambda: len(prober.said) > 0, what="the probes")
                before = len(prober.said)
                needless = [await client.get(path) for path in ("/dang-nhap", "/dang-ky", "/gio-hang")]
                await asyncio.to_thread(wait_until, lambda: len(prober.said) > before, what="more probes")
            over.set()
            refused = list(chain.from_iterable(await asyncio.gather(*shoppers)))
        await asyncio.to_thread(wait_until, lambda: _searches(shop.url), what="the database's return")
    assert [page.status_code for page in needless] == [200, 200, 200]
    assert {page.status_code for page in refused} == {503}
    assert all(page.headers["retry-after"] for page in refused)
    assert set(prober.said) == {200}


def test_no_route_of_the_shop_runs_in_the_thread_pool_that_all_would_share() -> None:
    """A plain `def` route would: 40 slow ones would stop every other, probes among them."""
    where = given("redis://127.0.0.1:1/0", "postgresql+psycopg://u@127.0.0.1:1/none", "http://chopho.example")
    settings = read(Settings, where)
    app = create_app(settings, build(settings))
    routes = list(_flat(app.routes))
    assert len(routes) > 20
    plain = [route.path for route in routes if not _is_async(route.endpoint)]
    assert plain == []


def _flat(routes: list[BaseRoute]) -> Iterator[Route]:
    for route in routes:
        if isinstance(route, Mount):
            yield from _flat(route.routes)
        elif isinstance(route, Route):
            yield route


def _is_async(endpoint: Any) -> bool:
    return inspect.iscoroutinefunction(endpoint) or inspect.iscoroutinefunction(type(endpoint).__call__)


async def test_reports_that_block_every_thread_of_theirs_delay_no_hashing(redis_url: str) -> None:
    where = given(redis_url, "postgresql+psycopg://u@127.0.0.1:1/none", "http://chopho.example")
    parts = build(read(Settings, where))
    done = threading.Event()
    reports = [asyncio.create_task(parts.blocking.reports.run(done.wait)) for _ in range(5)]
    await asyncio.sleep(0)
    try:
        hashed = await parts.shop.register.passwords.hash("mật khẩu đủ dài")
        assert await parts.shop.log_in.passwords.verify("mật khẩu đủ dài", hashed)
        assert not any(report.done() for report in reports)
    finally:
        done.set()
        await asyncio.gather(*reports)


def _in_use(url: str) -> float:
    rows = httpx.get(f"{url}/internal/compartments").json()["compartments"]
    return float(next(row["in_use"] for row in rows if row["name"] == "database"))


def _searches(url: str) -> bool:
    return httpx.get(f"{url}/tim-kiem").status_code == 200


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/readiness").status_code == 200
    except httpx.TransportError:
        return False


def _accepts(server: PostgresServer) -> bool:
    try:
        psycopg.connect(server.url().replace("+psycopg", ""), connect_timeout=1).close()
    except psycopg.OperationalError:
        return False
    return True


def _postmaster(started: subprocess.Popen[bytes]) -> psutil.Process:
    """PostgreSQL itself, which may be the child of what changed the user for it."""
    process = psutil.Process(started.pid)
    while process.name() != "postgres":
        (process,) = process.children()
    return process
