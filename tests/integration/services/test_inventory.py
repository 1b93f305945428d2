"""The inventory: the shop's stock as it is now, for display, which it can never change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from app.shop.catalog import UNCOUNTED
from app.shop.errors import Unavailable
from app.stores.database import Database, DatabaseConfig
from tests.integration.services.conftest import World


def stock(world: World, path: str) -> dict[str, Any]:
    answer = world.inventory.call("GET", path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_products_variants_are_told_with_the_moment(world: World) -> None:
    slug, skus = world.rows(
        "SELECT slug, array_agg(sku ORDER BY sku) FROM products JOIN variants ON product_id = products.id GROUP BY 1 LIMIT 1"
    )[0]
    world.rows("UPDATE variants SET stock = 7 WHERE sku = %(sku)s", sku=skus[0])
    found = stock(world, f"/v1/products/{slug}/stock")
    assert [item["sku"] for item in found["items"]] == skus
    assert found["items"][0]["stock"] == 7
    age = datetime.now(UTC) - datetime.fromisoformat(found["as_of"])
    assert abs(age) < timedelta(minutes=1)


def test_a_batch_of_skus_is_told_at_once_without_those_the_shop_does_not_sell(world: World) -> None:
    (one,), (two,) = world.rows("SELECT sku FROM variants ORDER BY sku LIMIT 2")
    found = stock(world, f"/v1/stock?sku={two}&sku={one}&sku=unknown&sku={one}")
    assert [item["sku"] for item in found["items"]] == [one, two]
    assert found["total"] == 2


def test_what_nobody_counts_is_told_as_plenty(world: World) -> None:
    (sku,) = world.rows("SELECT sku FROM variants ORDER BY sku LIMIT 1")[0]
    world.rows("UPDATE variants SET sells_past_zero = true WHERE sku = %(sku)s", sku=sku)
    assert stock(world, f"/v1/stock?sku={sku}")["items"][0]["stock"] == UNCOUNTED
    world.rows("UPDATE variants SET sells_past_zero = false WHERE sku = %(sku)s", sku=sku)


@pytest.mark.parametrize("query", ["", "?sku=%00", "?" + "&".join(["sku=x"] * 101)])
def test_what_is_no_batch_is_refused(world: World, query: str) -> None:
    assert world.inventory.call("GET", f"/v1/stock{query}").status_code == 422


def test_an_unknown_product_has_no_units(world: World) -> None:
    assert stock(world, "/v1/products/khong-co/stock")["items"] == []


async def test_its_connections_cannot_write(world: World) -> None:
    database = Database(DatabaseConfig(url=world.database_url, read_only=True))
    with pytest.raises((Unavailable, InternalError)):
        await database.rows(text("UPDATE variants SET stock = 0"))
    await database.close()
