"""A shop's database of its own for each test, and small ways to fill it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest
from sqlalchemy import select
from sqlalchemy.engine import make_url

from app.fleet.postgres import PostgresServer
from app.shop.accounts import Account, checked_registration
from app.shop.orders import OrderRequest, Shipping
from app.stores.accounts import SqlAccounts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from app.stores.orders import SqlOrders
from app.stores.search import findable
from app.stores.tables import categories, products, variants

Sell = Callable[..., Awaitable[None]]
NewAccount = Callable[[], Awaitable[Account]]
Stock = Callable[[str], Awaitable[int]]
Ordering = Callable[..., OrderRequest]


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> str:
    """The name of a database with all tables, which the tests copy."""
    with admin_of(postgres_server) as admin:
        admin.execute("CREATE DATABASE migrated")
    migrate(postgres_server.url("migrated"))
    return "migrated"


@pytest.fixture
def database_url(postgres_server: PostgresServer, migrated: str) -> Iterator[str]:
    """A database of this test alone, with all tables."""
    name = f"shop_{secrets.token_hex(6)}"
    with admin_of(postgres_server) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {migrated}".encode())
    yield postgres_server.url(name)
    with admin_of(postgres_server) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def admin_of(server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    plain = make_url(server.url()).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """With a pool smaller than what the tests throw at it, and time enough to wait for it."""
    database = Database(
        DatabaseConfig(
            url=database_url,
            pool_size=6,
            pool_wait_s=20,
            statement_timeout_s=20,
            lock_timeout_s=20,
            answer_within_s=30,
        )
    )
    yield database
    await database.close()


@pytest.fixture
def catalog(database: Database) -> SqlCatalog:
    return SqlCatalog(database=database)


@pytest.fixture
def accounts(database: Database) -> SqlAccounts:
    return SqlAccounts(database=database)


@pytest.fixture
def orders(database: Database) -> SqlOrders:
    return SqlOrders(database=database)


@pytest.fixture
def sell(database: Database) -> Sell:
    """Put a product with one variant on the shelf."""

    async def sell(
        sku: str,
        *,
        stock: int = 10,
        price: int = 1000,
        name: str = "Hàng thử",
        category: str = "Kệ thử",
        visible: bool = True,
    ) -> None:
        async with database._engine.begin() as connection:  # noqa: SLF001 -- there is no owner's desk yet
            category_id = await connection.scalar(
                categories.insert().values(slug=f"{category}-{sku}", name=category).returning(categories.c.id)
            )
            product_id = await connection.scalar(
                products.insert()
                .values(
                    slug=f"sp-{sku.lower()}",
                    name=name,
                    description="",
                    category_id=category_id,
                    visible=visible,
                    **findable(name=name, category=category, vendor="", tags=[], skus=[sku], description=""),
                )
                .returning(products.c.id)
            )
            await connection.execute(
                variants.insert().values(
                    sku=sku, product_id=product_id, position=0, name="", price=price, stock=stock
                )
            )

    return sell


@pytest.fixture
def new_account(accounts: SqlAccounts) -> NewAccount:
    numbers = count(1)

    async def new_account() -> Account:
        registration = checked_registration(
            email=f"nguoi{next(numbers)}@chopho.example", password="mat khau thu", name="Người Thử"
        )
        return await accounts.add(registration, password_hash="no hash")

    return new_account


@pytest.fixture
def stock(database: Database) -> Stock:
    async def stock(sku: str) -> int:
        row = await database.row(select(variants.c.stock).where(variants.c.sku == sku))
        assert row is not None
        return int(row.stock)

    return stock


@pytest.fixture
def ordering() -> Ordering:
    numbers = count(1)

    def ordering(account: Account, quantities: dict[str, int], *, total: int, **more: str) -> OrderRequest:
        number = next(numbers)
        return OrderRequest(
            account_id=account.id,
            cart_id=more.get("cart_id", f"cart-{number}"),
            quantities=quantities,
            expected_total=total,
            shipping=Shipping(name="Nguyễn Thị Ánh", phone="0912345678", address="1 Hàng Đào, Hà Nội"),
            payment="cod",
            key=more.get("key", f"key-{number}"),
            fingerprint=more.get("fingerprint", "print"),
        )

    return ordering
