"""Made-up shops: the same for the same seed; and what a shop asks its database does not grow with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from app.fleet.postgres import PostgresServer
from app.shop.accounts import Account
from app.shop.catalog import ProductQuery
from app.shop.desk.orders import BookQuery
from app.shop.orders import Order, OrderQuery
from app.stores.catalog import SqlCatalog
from app.stores.database import AnyRow, Database, DatabaseConfig
from app.stores.desk.orders import SqlOrderBook
from app.stores.imports import patient
from app.stores.orders import SqlOrders
from app.stores.sample.volume import NotMadeUp, Volume, make_up
from tests.integration.stores.conftest import NewAccount, Ordering, Sell, admin_of
from tests.integration.stores.statements import overheard, read_whole

SMALL = Volume(products=30, orders=200, accounts=10, seed=7, until=date(2026, 5, 1))
LARGE = Volume(products=1_000, orders=10_000, accounts=500, seed=1, until=date(2026, 5, 1))

CONTENT = """
SELECT email, orders.id, account_id, cart_id, shipping, total, placed_at, order_lines.sku, quantity, unit_price
FROM orders JOIN accounts ON accounts.id = account_id JOIN order_lines ON order_id = orders.id
ORDER BY placed_at, order_lines.position
"""


async def content(database: Database) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await database.rows(text(CONTENT))]


async def test_the_same_seed_makes_the_same_shop_and_another_seed_adds_another(database: Database) -> None:
    told: list[float] = []
    made = await make_up(database, SMALL, progress=told.append)
    assert (made.products, made.accounts, made.orders) == (30, 10, 200)
    assert told == sorted(told)
    assert told[-1] == 1
    first = await content(database)
    assert len(first) == made.order_lines
    for table in ("order_lines", "orders", "accounts"):
        await database.maintain(text(f"TRUNCATE {table} CASCADE"))
    again = await make_up(database, SMALL)
    assert (again.products, again.orders) == (0, 200)  # the goods were there
    assert await content(database) == first
    other = await make_up(database, replace(SMALL, seed=8))
    assert (other.products, other.orders) == (30, 200)


async def test_orders_that_were_made_up_add_up_and_are_shown_as_any(database: Database) -> None:
    await make_up(database, SMALL)
    rows = await database.rows(
        text("SELECT account_id, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 2 DESC")
    )
    shown = await SqlOrders(database=database).page(
        str(rows[0].account_id), OrderQuery(page=1, page_size=100)
    )
    assert shown.total == rows[0].orders
    assert all(order.total == sum(line.total for line in order.lines) for order in shown.items)
    dates = [order.placed_at.date() for order in shown.items]
    assert dates == sorted(dates, reverse=True)
    assert date(2025, 4, 30) <= dates[-1] <= dates[0] < date(2026, 5, 1)
    found = await SqlCatalog(database=database).page(ProductQuery(text="so 12"))
    assert "số 12" in found.items[0].name


async def test_a_seed_that_was_used_is_not_used_again(database: Database) -> None:
    await make_up(database, SMALL)
    with pytest.raises(NotMadeUp, match="seed 7"):
        await make_up(database, SMALL)


async def test_no_order_is_made_up_among_real_ones_unless_told(
    database: Database, sell: Sell, new_account: NewAccount, orders: SqlOrders, ordering: Ordering
) -> None:
    await sell("A")
    await orders.place(ordering(await new_account(), {"A": 1}, total=1000))
    with pytest.raises(NotMadeUp, match="orders of its own"):
        await make_up(database, SMALL)
    assert await database.row(text("SELECT count(*) FROM orders")) == (1,)
    assert (await make_up(database, SMALL, among_orders=True)).orders == 200


async def test_a_shop_without_goods_gets_no_orders(database: Database) -> None:
    with pytest.raises(NotMadeUp, match="nothing to order"):
        await make_up(database, replace(SMALL, products=0))
    assert await database.row(text("SELECT count(*) FROM accounts")) == (0,)


@pytest.fixture(scope="module")
def large_url(postgres_server: PostgresServer, migrated: str) -> Iterator[str]:
    """A shop of 1,000 products and 10,000 orders: enough for PostgreSQL to choose as it would with a million."""
    with admin_of(postgres_server) as admin:
        admin.execute(f'CREATE DATABASE voluminous TEMPLATE "{migrated}"'.encode())
    url = postgres_server.url("voluminous")

    async def fill() -> None:
        database = Database(patient(url))
        await make_up(database, LARGE)
        await database.close()

    asyncio.run(fill())
    yield url
    with admin_of(postgres_server) as admin:
        admin.execute("DROP DATABASE voluminous WITH (FORCE)")


@pytest.fixture
async def large(large_url: str) -> AsyncIterator[Database]:
    database = Database(DatabaseConfig(url=large_url, pool_wait_s=20, answer_within_s=30))
    yield database
    await database.close()


async def somebody(database: Database) -> AnyRow:
    """Who ordered most, and the goods that were ordered."""
    found = await database.row(
        text(
            "SELECT account_id::text AS id, (SELECT array_agg(sku) FROM (SELECT DISTINCT sku FROM order_lines LIMIT 20) AS chosen) AS skus"
            " FROM orders GROUP BY account_id ORDER BY count(*) DESC LIMIT 1"
        )
    )
    assert found is not None
    return found


async def ordered(database: Database, ordering: Ordering, account_id: str, skus: list[str]) -> Order:
    """A checkout of one of each."""
    offers = await SqlCatalog(database=database).offers(skus)
    available = [sku for sku in skus if sku in offers and offers[sku].stock]
    account = Account(id=account_id, email="", name="", role="customer", created_at=None)  # type: ignore[arg-type] # an id is all an order needs
    total = sum(offers[sku].price for sku in available)
    request = ordering(
        account, dict.fromkeys(available, 1), total=total, cart_id=f"cart of {len(skus)}", key=f"{len(skus)}"
    )
    orders = SqlOrders(database=database)
    assert await orders.replay(account_id, request.key, request.fingerprint) is None
    return await orders.place(request)


async def test_lists_and_checkout_read_no_large_table_whole(
    large: Database, large_url: str, ordering: Ordering
) -> None:
    who = await somebody(large)
    orders = SqlOrders(database=large)
    with overheard(large) as asked:
        placed = await ordered(large, ordering, who.id, who.skus[:5])
        page = await orders.page(who.id, OrderQuery(page=3, page_size=20))
        await orders.by_id(who.id, placed.id)
        await orders.by_cart(who.id, str(placed.cart_id))
        product = await SqlCatalog(database=large).page(ProductQuery(text="lụa", page_size=5))
        await SqlCatalog(database=large).product(product.items[0].slug)
    assert page.total > 60
    assert not read_whole(large_url, asked) & {"accounts", "orders", "order_lines", "products", "variants"}


async def test_the_owners_lists_of_orders_follow_an_index(large: Database, large_url: str) -> None:
    book = SqlOrderBook(database=large)
    since = date(2026, 4, 29)
    with overheard(large) as asked:
        first = await book.page(BookQuery())
        await book.page(BookQuery(before=first.next_before))
        await book.page(BookQuery(status="refunded"))
        await book.page(BookQuery(since=since, until=since))
        await book.page(BookQuery(number=77))
        await book.today()
        await book.find(first.orders[0].id)
    assert len(first.orders) == 50
    assert len(asked) <= 13
    assert not read_whole(large_url, asked) & {"orders", "order_lines"}


async def test_an_order_costs_as_many_queries_whatever_is_in_it_and_in_the_shop(
    large: Database, ordering: Ordering, database: Database
) -> None:
    await make_up(database, SMALL)
    counts: Mapping[str, list[int]] = {"order": [], "list": []}
    for shop in (database, large):
        who = await somebody(shop)
        for things in (1, 12):
            with overheard(shop) as asked:
                await ordered(shop, ordering, who.id, who.skus[:things])
            counts["order"].append(len(asked))
        for size in (1, 20):
            with overheard(shop) as asked:
                await SqlOrders(database=shop).page(who.id, OrderQuery(page=1, page_size=size))
            counts["list"].append(len(asked))
    assert {what: len(set(numbers)) for what, numbers in counts.items()} == {"order": 1, "list": 1}, counts


def test_an_interrupted_making_leaves_no_order(large_url: str) -> None:
    """Whatever was copied is one transaction."""

    def interrupt(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    async def make() -> None:
        database = Database(patient(large_url))
        try:
            await make_up(database, replace(LARGE, products=0, seed=2), progress=interrupt)
        finally:
            await database.close()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(make())
    with psycopg.connect(large_url.replace("+psycopg", "")) as connection:
        made = connection.execute("SELECT count(*) FROM orders WHERE cart_id LIKE 'made-up-2-%'").fetchone()
    assert made == (0,)
