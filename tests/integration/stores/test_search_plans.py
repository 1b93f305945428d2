"""With 100,000 products every list is a walk along an index; only what is found is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine

from app.fleet.postgres import PostgresServer
from app.shop.catalog import ProductQuery
from app.stores import listing

PRODUCTS = 100_000
SYLLABLES = [
    "ca",
    "phe",
    "tra",
    "sen",
    "lua",
    "nhung",
    "gom",
    "su",
    "den",
    "long",
    "duong",
    "mia",
    "chieu",
    "coi",
    "ao",
    "dai",
    "non",
    "la",
    "giay",
    "do",
    "tranh",
]

_FILL = """
INSERT INTO categories (slug, name) SELECT 'ke-' || n, 'Kệ ' || n FROM generate_series(1, 20) AS n;
INSERT INTO products (slug, name, description, category_id, search, sort_key, words, head_words)
SELECT 'sp-' || n, name, '', 1 + n % 20, name, name || n,
       words, words
FROM generate_series(1, {products}) AS n,
     (SELECT ARRAY{syllables} AS syllables) AS known,
     LATERAL (SELECT concat_ws(' ', syllables[1 + n % 23], syllables[1 + n / 23 % 23], syllables[1 + n / 529 % 23]) AS name) AS made,
     LATERAL (SELECT setweight(to_tsvector('simple', name || ' so' || n), 'A') AS words) AS indexed;
INSERT INTO variants (sku, product_id, position, name, price, stock)
SELECT 'sku-' || id, id, 0, '', 1000 * (1 + id % 997), id % 5 FROM products;
INSERT INTO product_pictures (product_id, position, source, alt) SELECT id, 0, 'mau/ao.svg', '' FROM products;
ANALYZE
"""


@pytest.fixture(scope="module")
def large_url(postgres_server: PostgresServer, migrated: str) -> Iterator[str]:
    """A shop of 100,000 products."""
    with psycopg.connect(_plain(postgres_server.url()), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE large TEMPLATE "{migrated}"')
    url = postgres_server.url("large")
    with psycopg.connect(_plain(url)) as connection:
        connection.execute(_FILL.format(products=PRODUCTS, syllables=SYLLABLES))
    yield url
    with psycopg.connect(_plain(postgres_server.url()), autocommit=True) as admin:
        admin.execute("DROP DATABASE large WITH (FORCE)")


def _plain(url: str) -> str:
    return url.replace("postgresql+psycopg:", "postgresql:")


Node = Mapping[str, Any]


def nodes(plan: Node) -> Iterator[Node]:
    """The steps of a plan that lead to the page; its total is an InitPlan beside them."""
    if plan.get("Parent Relationship") != "InitPlan" or "CTE" in plan.get("Subplan Name", ""):
        yield plan
        for part in plan.get("Plans", []):
            yield from nodes(part)


def steps(url: str, query: ProductQuery) -> list[Node]:
    """How PostgreSQL would answer the very statement that the shop sends."""
    engine = create_engine(url)
    asked = listing.summaries(query, offset=0).compile(engine)
    with engine.connect() as connection:
        explained = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {asked}", asked.params).scalar_one()
    engine.dispose()
    return list(nodes(explained[0]["Plan"]))


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (ProductQuery(text="lua so99"), "products_words_idx"),
        (ProductQuery(text="ca phe", category="ke-3", in_stock=True, sort="name"), "products_words_idx"),
        (ProductQuery(text="khong"), "products_words_idx"),
        (ProductQuery(text="ca"), "products_beginning_idx"),
        (ProductQuery(text="c"), "products_head_words_idx"),
        (ProductQuery(sort="name"), "products_sort_key_shown_idx"),
        (ProductQuery(sort="cheapest"), "products_price_from_shown_idx"),
        (ProductQuery(sort="dearest"), "products_price_from_shown_idx"),
        (ProductQuery(price_least=5000, price_most=6000, sort="cheapest"), "products_price_from_shown_idx"),
        (ProductQuery(category="ke-3", sort="name"), "products_category_id_sort_key_shown_idx"),
        (ProductQuery(category="ke-3", sort="cheapest"), "products_category_id_price_from_shown_idx"),
        (ProductQuery(), "products_pkey"),
        (ProductQuery(sort="newest"), "products_pkey"),
    ],
)
def test_the_page_comes_from_its_index(large_url: str, query: ProductQuery, index: str) -> None:
    found = steps(large_url, query)
    read_whole = {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"}
    assert index in {node.get("Index Name") for node in found}, found
    assert read_whole <= {"categories"}, found
