"""The sample catalogue, put into the database once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, TypeAlias

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.stores.catalog import search_text
from app.stores.database import Database
from app.stores.tables import categories, products, variants

_Told: TypeAlias = Mapping[str, Any]


async def load_sample(database: Database) -> int:
    """Add what is missing of the sample and return how many products that were.

    What is there stays as it is, stock and price too. Any number may load at once: they meet at the
    slugs, in the same order, a short transaction for each category.
    """
    told = tomllib.loads(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"))
    return sum(
        [await database.transaction(partial(_add_category, category)) for category in told["category"]]
    )


async def _add_category(told: _Told, connection: AsyncConnection) -> int:
    await connection.execute(
        insert(categories).values(slug=told["slug"], name=told["name"]).on_conflict_do_nothing()
    )
    category_id = await connection.scalar(select(categories.c.id).where(categories.c.slug == told["slug"]))
    return sum([await _add_product(connection, category_id, told, product) for product in told["product"]])


async def _add_product(
    connection: AsyncConnection, category_id: int | None, category: _Told, told: _Told
) -> bool:
    skus = [variant["sku"] for variant in told["variants"]]
    product_id = await connection.scalar(
        insert(products)
        .values(
            slug=told["slug"],
            name=told["name"],
            description=told["description"],
            category_id=category_id,
            search=search_text(name=told["name"], category=category["name"], skus=skus),
        )
        .on_conflict_do_nothing()
        .returning(products.c.id)
    )
    if product_id is None:
        return False
    await connection.execute(insert(variants), _variants(product_id, told["variants"]))
    return True


def _variants(product_id: int, told: Sequence[_Told]) -> list[_Told]:
    return [
        {"name": "", "options": {}, **variant, "product_id": product_id, "position": position}
        for position, variant in enumerate(told)
    ]
