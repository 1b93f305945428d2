"""Any number of replicas may bring the database up to date at once."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

import app.stores
from app.shop.catalog import ProductQuery
from app.shop.errors import Unavailable
from app.stores.accounts import SqlAccounts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.migrations import current, head, migrate
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.sample.accounts import DEMO_ACCOUNTS, DEMO_PASSWORD, load_demo_accounts
from app.stores.sample.catalog import load_sample
from app.stores.tables import metadata


def test_an_empty_database_becomes_the_newest_one(empty_database_url: str) -> None:
    assert current(empty_database_url) is None
    migrate(empty_database_url)
    assert current(empty_database_url) == head() is not None
    migrate(empty_database_url)


def test_four_replicas_may_migrate_at_once_from_anywhere(empty_database_url: str, tmp_path: object) -> None:
    code = "import sys; from app.stores.migrations import migrate; migrate(sys.argv[1])"
    argv = [sys.executable, "-W", "error", "-c", code, empty_database_url]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    replicas = [subprocess.Popen(argv, cwd=str(tmp_path), env=environment) for _ in range(4)]
    assert [replica.wait(60) for replica in replicas] == [0, 0, 0, 0]
    assert current(empty_database_url) == head()


def test_the_tables_are_what_the_revisions_make(database_url: str) -> None:
    for module in iter_modules(app.stores.__path__, "app.stores."):
        if module.name.startswith("app.stores.tables"):
            import_module(module.name)
    engine = create_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_a_database_that_is_away_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        migrate("postgresql+psycopg://nobody:nothing@127.0.0.1:1/none")


async def test_the_sample_is_loaded_once_however_many_load_it(
    database: Database, catalog: SqlCatalog
) -> None:
    added = await asyncio.gather(*(load_sample(database) for _ in range(4)))
    page = await catalog.page(ProductQuery(page_size=100))
    assert sum(added) == page.total >= 30
    assert await load_sample(database) == 0
    assert len(await catalog.categories()) == 8


async def test_the_sample_has_everything_from_sold_out_to_plenty(
    database: Database, catalog: SqlCatalog
) -> None:
    await load_sample(database)
    page = await catalog.page(ProductQuery(page_size=100))
    assert {item.in_stock for item in page.items} == {True, False}
    products = [await catalog.product(item.slug) for item in page.items]
    variants = [variant for product in products if product for variant in product.variants]
    stocks = {variant.stock for variant in variants}
    assert {0, 1, 2, 500} <= stocks
    assert all(len(variant.sku.encode()) <= 64 and variant.price >= 1000 for variant in variants)


async def test_the_demo_accounts_are_opened_once_however_many_open_them(accounts: SqlAccounts) -> None:
    passwords = ArgonPasswords(PasswordConfig(memory_kib=64, passes=1))
    await asyncio.gather(*(load_demo_accounts(accounts, passwords) for _ in range(4)))
    for email, _, role in DEMO_ACCOUNTS:
        kept = await accounts.credentials(email)
        assert kept is not None
        assert kept[0].role == role
        assert await passwords.verify(DEMO_PASSWORD, kept[1])
