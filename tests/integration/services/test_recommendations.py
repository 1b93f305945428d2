"""Recommendations: computed from the orders, in the background, by one process at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

from app.services.recommendations.refresher import Refresher
from app.stores.database import Database, DatabaseConfig
from tests.conftest import wait_until
from tests.integration.services.conftest import World


def skus(world: World) -> list[tuple[str, str, str]]:
    """A SKU, its product and its category, of products on one shelf and a last one on another."""
    rows = world.rows(
        """SELECT DISTINCT ON (products.id) sku, products.slug, categories.slug, category_id
           FROM variants JOIN products ON products.id = product_id
           JOIN categories ON categories.id = category_id ORDER BY products.id"""
    )
    shelf = rows[0][3]
    return [row[:3] for row in rows if row[3] == shelf] + [next(row[:3] for row in rows if row[3] != shelf)]


def order(
    world: World, *bought: str, account: str | None = None, days_ago: int = 0, status: str = "placed"
) -> str:
    """An order of one of each, by somebody new unless said otherwise."""
    account = account or str(uuid4())
    order_id = str(uuid4())
    world.rows(
        """INSERT INTO accounts (id, email, email_key, name, role, password_hash)
           VALUES (%(id)s, %(id)s, %(id)s, 'Khách', 'customer', '-') ON CONFLICT DO NOTHING""",
        id=account,
    )
    world.rows(
        """INSERT INTO orders (id, account_id, cart_id, status, payment, shipping, total, placed_at)
           VALUES (%(id)s, %(account)s, %(id)s, %(status)s, 'cod', '{}', 1, now() - %(days)s * interval '1 day')""",
        id=order_id,
        account=account,
        days=days_ago,
        status=status,
    )
    for position, sku in enumerate(bought):
        world.rows(
            """INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price)
               VALUES (%(id)s, %(position)s, %(sku)s, '', 1, 1)""",
            id=order_id,
            position=position,
            sku=sku,
        )
    return account


def beside(world: World, product: str, most: int = 6) -> list[tuple[str, str]]:
    answer = world.recommendations.call("GET", f"/v1/products/{product}/recommendations?most={most}")
    assert answer.status_code == 200, answer.text
    return [(item["product"], item["reason"]) for item in answer.json()["items"]]


def test_what_more_customers_bought_together_comes_first_then_what_the_shelf_sells_most(world: World) -> None:
    one, two, three, four, *_, elsewhere = skus(world)
    order(world, one[0], elsewhere[0])
    order(world, one[0], elsewhere[0])
    order(world, one[0], two[0])
    order(world, four[0])
    expected = [(elsewhere[1], "bought_together"), (two[1], "bought_together")]
    wait_until(lambda: beside(world, one[1])[:2] == expected, what="a refresh")
    rest = beside(world, one[1])[2:]
    assert rest[0] == (four[1], "bestseller")
    assert {reason for _, reason in rest} == {"bestseller"}
    assert one[1] not in dict(rest)
    assert three[1] in dict(beside(world, one[1], 12))


def test_one_customer_alone_pushes_nothing_however_often_they_order(world: World) -> None:
    one, two, three, *_ = skus(world)
    pusher = order(world, one[0], three[0])
    for _ in range(3):
        order(world, one[0], three[0], account=pusher)
    order(world, one[0], two[0])
    order(world, one[0], two[0])
    expected = [(two[1], "bought_together"), (three[1], "bought_together")]
    wait_until(lambda: beside(world, one[1])[:2] == expected, what="a refresh")


def test_an_order_that_came_to_nothing_or_went_back_recommends_nothing(world: World) -> None:
    one, two, three, *_ = skus(world)
    for status in ("placing", "awaiting_payment", "failed", "cancelled", "refunded"):
        order(world, one[0], two[0], status=status)
    for status in ("confirmed", "packed", "shipped", "delivered"):
        order(world, one[0], three[0], status=status)
    expected = [(three[1], 4)]
    wait_until(lambda: bought_together(world, one[1]) == expected, what="a refresh")


def bought_together(world: World, product: str) -> list[tuple[str, int]]:
    """The others and by how many customers, as the table has them."""
    return world.rows(
        "SELECT other, customers FROM recommendations.pairs WHERE product = %(product)s ORDER BY place",
        product=product,
    )


def test_without_any_order_a_shelf_recommends_its_own(world: World) -> None:
    one, *rest = skus(world)
    wait_until(lambda: {reason for _, reason in beside(world, one[1])} == {"bestseller"}, what="a refresh")
    assert set(dict(beside(world, one[1]))) <= {slug for _, slug, _ in rest}


def test_orders_of_long_ago_count_no_more(world: World) -> None:
    one, two, *_ = skus(world)
    order(world, one[0], two[0], days_ago=400)
    order(world, two[0], two[0])
    wait_until(lambda: beside(world, one[1])[:1] == [(two[1], "bestseller")], what="a refresh")


def test_a_product_nobody_knows_has_none(world: World) -> None:
    assert beside(world, "khong-co") == []
    assert world.recommendations.call("GET", "/v1/products/x/recommendations?most=99").status_code == 422


async def test_of_many_who_refresh_at_once_one_does_it(world: World) -> None:
    databases = [Database(DatabaseConfig(url=world.database_url, pool_size=1)) for _ in range(5)]
    world.rows("DELETE FROM recommendations.refreshes")
    refreshers = [Refresher(database=database, every=timedelta(hours=1)) for database in databases]
    done = await asyncio.gather(*(refresher.refresh() for refresher in refreshers))
    assert sum(done) <= 1  # the process of the service may have been first
    assert world.rows("SELECT count(*) FROM recommendations.refreshes") == [(1,)]
    for database in databases:
        await database.close()
