"""What a list shows of a product stays in step with its variants, whoever changes them and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy.engine import make_url

Connection = psycopg.Connection[tuple[object, ...]]


_ONE_PRODUCT = """
INSERT INTO categories (slug, name) VALUES ('ao', 'Áo');
INSERT INTO products (slug, name, description, category_id, search) SELECT 'ao', 'Áo', '', id, 'ao' FROM categories;
INSERT INTO variants (sku, product_id, position, name, price, stock)
SELECT sku, id, 0, '', price, 1 FROM products, (VALUES ('A', 100), ('B', 200)) AS told (sku, price)
"""


@pytest.fixture
def plain_url(database_url: str) -> str:
    """A shop with one product of two variants, one unit of each."""
    url = make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection:
        connection.execute(_ONE_PRODUCT)
    return url


@pytest.fixture
def two(plain_url: str) -> Iterator[tuple[Connection, Connection]]:
    with psycopg.connect(plain_url) as first, psycopg.connect(plain_url) as second:
        yield first, second


def shelf(connection: Connection) -> tuple[object, ...]:
    row = connection.execute("SELECT price_from, in_stock FROM products WHERE slug = 'ao'").fetchone()
    assert row is not None
    return row


def test_a_list_follows_prices_stocks_and_the_end_of_a_variant(two: tuple[Connection, Connection]) -> None:
    connection, _ = two
    assert shelf(connection) == (100, True)
    connection.execute("UPDATE variants SET price = 50 WHERE sku = 'B'")
    assert shelf(connection) == (50, True)
    connection.execute("UPDATE variants SET stock = 0")
    assert shelf(connection) == (50, False)
    connection.execute("UPDATE variants SET sells_past_zero = true WHERE sku = 'A'")
    assert shelf(connection) == (50, True)
    connection.execute("DELETE FROM variants WHERE sku = 'B'")
    assert shelf(connection) == (100, True)
    connection.execute("DELETE FROM variants")
    assert shelf(connection) == (None, False)


def test_two_last_units_sold_at_once_leave_nothing_in_stock(two: tuple[Connection, Connection]) -> None:
    """Each seller alone still sees the other's unit; the second one has to wait and look again."""
    first, second = two
    first.execute("UPDATE variants SET stock = 0 WHERE sku = 'A'")
    selling = threading.Thread(target=second.execute, args=("UPDATE variants SET stock = 0 WHERE sku = 'B'",))
    selling.start()
    deadline = time.monotonic() + 20
    while selling.is_alive() and not _waits(first) and time.monotonic() < deadline:
        time.sleep(0.01)
    first.commit()
    selling.join(20)
    second.commit()
    assert shelf(first) == (100, False)


def _waits(connection: Connection) -> bool:
    row = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()
    return row is not None and row[0] != 0


def test_an_order_that_leaves_something_locks_no_product(two: tuple[Connection, Connection]) -> None:
    first, second = two
    first.execute("UPDATE variants SET stock = 5")
    first.commit()
    first.execute("UPDATE variants SET stock = 4 WHERE sku = 'A'")
    second.execute("SET lock_timeout = 1")
    second.execute("SELECT FROM products FOR UPDATE")
