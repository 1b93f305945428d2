"""The sample catalogue, put into the database once."""

from __future__ import annotations

from app.stores.database import Database
from app.stores.imports import SqlImports
from app.stores.sample.goods import sample_products


async def load_sample(database: Database) -> int:
    """Add what is missing of the sample and return how many products that were.

    What is there stays as it is, stock and price too. Any number may load at once: imports take turns.
    """
    kept = await SqlImports(database=database).keep(sample_products, only_new=True)
    return kept.added
