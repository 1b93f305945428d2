"""One acquirer for the run, and for each test a shop's database of its own beside it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from app.clients.payments import HttpPayments, PaymentsConfig
from app.fleet.postgres import PostgresServer
from app.identity import Issuer, SigningKey, new_key
from app.shop.accounts import checked_registration
from app.stores.accounts import SqlAccounts
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from tests.integration.checkout.till import PRICE, Till
from tests.integration.payments.conftest import FAULTS_TOKEN, Acquirer, Keys, plain, starter

STOCK = 10


@pytest.fixture(scope="package")
def till_keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("till-keys")
    private, public = folder / "identity.key", folder / "identity.pub"
    private.touch(0o600)
    private.write_bytes(new_key())
    key = SigningKey.read(private)
    public.write_bytes(key.public_pem())
    return Keys(issuer=Issuer(key), public=public)


@pytest.fixture(scope="package")
def till_database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The shop's tables and the acquirer's, as in a fleet."""
    name = f"till_{secrets.token_hex(6)}"
    with admin_of(postgres_server) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    migrate(postgres_server.url(name))
    yield postgres_server.url(name)
    with admin_of(postgres_server) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture(scope="package")
def till_acquirer(
    till_database_url: str, till_keys: Keys, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Acquirer]:
    with starter(till_database_url, till_keys, tmp_path_factory.mktemp("till")) as start:
        yield start(FAULTS_TOKEN=FAULTS_TOKEN, PAYMENTS_SLOW="3s")


@pytest.fixture
def acquirer(till_acquirer: Acquirer, till_database_url: str) -> Acquirer:
    """The acquirer, healthy, and a shop without orders that has ten units of A and of B."""
    till_acquirer.client.delete("/faults", headers={"Authorization": f"Bearer {FAULTS_TOKEN}"})
    with psycopg.connect(plain(till_database_url), autocommit=True) as connection:
        connection.execute(
            "TRUNCATE payments.payments, payments.transfers, payments.requests, payments.closed_references,"
            " payments.events, payments.deliveries, accounts, orders, order_lines, order_keys, order_events,"
            " reservations, order_payments, categories, products, variants RESTART IDENTITY CASCADE"
        )
        connection.execute("INSERT INTO categories (slug, name) VALUES ('ke', 'Kệ')")
        for sku in ("A", "B", "C"):
            connection.execute(
                "INSERT INTO products (slug, name, description, category_id, search)"
                " SELECT %s, %s, '', id, '' FROM categories",
                (sku.lower(), f"Hàng {sku}"),
            )
            connection.execute(
                "INSERT INTO variants (sku, product_id, position, name, price, stock)"
                " SELECT %s, id, 0, '', %s, %s FROM products WHERE slug = %s",
                (sku, PRICE, STOCK, sku.lower()),
            )
    return till_acquirer


@pytest.fixture
async def database(till_database_url: str, acquirer: Acquirer) -> AsyncIterator[Database]:
    assert acquirer.url
    database = Database(
        DatabaseConfig(
            url=till_database_url,
            pool_size=6,
            pool_wait_s=20,
            statement_timeout_s=20,
            lock_timeout_s=20,
            answer_within_s=30,
        )
    )
    yield database
    await database.close()


@asynccontextmanager
async def client_of(url: str, keys: Keys) -> AsyncIterator[HttpPayments]:
    """The shop's client of the acquirer at that URL."""
    config = PaymentsConfig(url=url, timeout=timedelta(seconds=10), pool_size=10)
    client = HttpPayments(config, token=keys.token)
    yield client
    await client.close_connections()


@pytest.fixture
async def payments(acquirer: Acquirer, till_keys: Keys) -> AsyncIterator[HttpPayments]:
    async with client_of(acquirer.url, till_keys) as client:
        yield client


@pytest.fixture
async def till(database: Database, payments: HttpPayments) -> Till:
    """A buyer with two units of A in the cart."""
    return await new_till(database, payments)


async def new_till(database: Database, payments: HttpPayments, number: int = 1) -> Till:
    registration = checked_registration(
        email=f"nguoi{number}@chopho.example", password="mat khau thu", name="Người Thử"
    )
    account = await SqlAccounts(database=database).add(registration, password_hash="no hash")
    return Till(database=database, payments=payments, account_id=account.id)


@contextmanager
def admin_of(server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(plain(server.url()), autocommit=True) as connection:
        yield connection
