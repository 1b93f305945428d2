"""The desk's tests have a shop of their own: what they put on the shelves is nobody else's surprise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg import sql

from app.fleet.postgres import PostgresServer
from app.stores.database import Database
from app.stores.imports import patient
from app.stores.migrations import migrate
from app.stores.sample.catalog import load_sample
from tests.web.conftest import World
from tests.web.desk.browsers import browser_of


@pytest.fixture(scope="module")
def web_database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A shop with the sample catalogue, for the tests of one file."""
    name = f"desk_{uuid4().hex[:12]}"
    with psycopg.connect(postgres_server.url().replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        migrate(postgres_server.url(name))
        asyncio.run(_fill(postgres_server.url(name)))
        yield postgres_server.url(name)
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def _fill(url: str) -> None:
    database = Database(patient(url))
    await load_sample(database)
    await database.close()


@pytest.fixture
async def owner(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """The browser of the shop's owner."""
    async with browser_of(world, "owner") as browser:
        yield browser
