"""The three helpful services on a shop with the sample catalogue and some orders."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psutil
import psycopg
import pytest

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from app.stores.sample.catalog import load_sample
from tests.conftest import free_port, listening, running, wait_until
from tests.integration.services.processes import FAULTS_TOKEN, Keys, Service, served, until_ready
from tests.integration.services.shop import Shop, shop_served


def plain(url: str) -> str:
    """The URL as psycopg itself reads it."""
    return url.replace("+psycopg", "")


@dataclass(frozen=True)
class World:
    """One database, and a process of each service on it."""

    database_url: str
    keys: Keys
    reviews: Service
    recommendations: Service
    inventory: Service

    def rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(
            plain(self.database_url), autocommit=True, cursor_factory=psycopg.ClientCursor
        ) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="package")
def shop_database_url(postgres_server: PostgresServer) -> str:
    """A shop's database with the sample catalogue."""
    name = f"services_{secrets.token_hex(6)}"
    with psycopg.connect(plain(postgres_server.url()), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    url = postgres_server.url(name)
    migrate(url)
    asyncio.run(_fill(url))
    return url


async def _fill(url: str) -> None:
    database = Database(DatabaseConfig(url=url))
    await load_sample(database)
    await database.close()


@pytest.fixture(scope="package")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys.made(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="package")
def started(shop_database_url: str, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("services")
    with ExitStack() as stack:
        reviews, recommendations, inventory = (
            stack.enter_context(
                served(name, keys, folder, shop_database_url, FAULTS_TOKEN=FAULTS_TOKEN, **settings)
            )
            for name, settings in (
                ("reviews", {}),
                ("recommendations", {"RECOMMENDATIONS_REFRESH": "1s"}),
                ("inventory", {}),
            )
        )
        until_ready(reviews, recommendations, inventory)
        yield World(shop_database_url, keys, reviews, recommendations, inventory)


@pytest.fixture
def world(started: World) -> World:
    """Without reviews and orders, and with no fault on."""
    started.rows("TRUNCATE reviews.reviews")
    started.rows("TRUNCATE orders, order_lines, order_keys CASCADE")
    for service in (started.reviews, started.recommendations, started.inventory):
        service.faults.turn_off()
    return started


@pytest.fixture(scope="package")
def payments(
    shop_database_url: str, keys: Keys, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("payments")
    with served("payments", keys, folder, shop_database_url, FAULTS_TOKEN=FAULTS_TOKEN) as service:
        until_ready(service)
        yield service


@pytest.fixture(scope="package")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RedisServer, psutil.Process]]:
    """A Redis for copies alone, so that it can be away while sessions go on."""
    folder = tmp_path_factory.mktemp("cache")
    server = RedisServer(program=Programs().find_redis_server(), data=folder / "data", port=free_port())
    with running(server.argv(), folder / "log") as process:
        wait_until(lambda: listening(server.port), what="the cache")
        yield server, psutil.Process(process.pid)


@pytest.fixture
def cache_process(cache: tuple[RedisServer, psutil.Process]) -> psutil.Process:
    return cache[1]


@pytest.fixture(scope="package")
def shop_started(
    started: World,
    payments: Service,
    cache: tuple[RedisServer, psutil.Process],
    lasting_redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    services = {
        service.name: service
        for service in (started.reviews, started.recommendations, started.inventory, payments)
    }
    with shop_served(
        started.keys,
        folder,
        database_url=started.database_url,
        redis_url=lasting_redis_url,
        cache_url=cache[0].url,
        services=services,
    ) as shop:
        yield shop


@pytest.fixture
def shop(shop_started: Shop, world: World, payments: Service) -> Shop:
    """A replica whose services are all well."""
    assert world.reviews
    payments.faults.turn_off()
    return shop_started
