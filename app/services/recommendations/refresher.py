"""Computes the recommendations anew from the shop's orders, at an interval, in one process at a time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.services.recommendations.tables import bestsellers, pairs, refreshes, shelves
from app.services.schema import lock_of
from app.shop.errors import Unavailable
from app.stores.database import Database

_log = logging.getLogger(__name__)

KEPT: Final = 12
"""Products for each; a page shows half of them, and some may be sold no longer."""

AGAIN_S: Final = 5.0
"""After a try that failed: a database that starts, or a shop whose tables are not made yet."""

_LOCK: Final = lock_of("refresh!")

_RECENT: Final = """
    placed_at > now() - interval '1 year'
    AND status NOT IN ('placing', 'awaiting_payment', 'failed', 'cancelled', 'refunded')
"""
"""What was sold and kept: goods that came back speak for nothing. The version before called a sold order placed."""

_PAIRS: Final = text(
    f"""
    INSERT INTO recommendations.pairs (product, place, other, customers)
    WITH bought AS (
        SELECT DISTINCT orders.id, orders.account_id, variants.product_id
        FROM orders JOIN order_lines ON order_lines.order_id = orders.id JOIN variants USING (sku)
        WHERE {_RECENT}
    ), counted AS (
        SELECT one.product_id, other.product_id AS other_id, count(DISTINCT one.account_id) AS customers
        FROM bought one JOIN bought other USING (id)
        WHERE one.product_id <> other.product_id
        GROUP BY 1, 2
    ), placed AS (
        SELECT *, row_number() OVER (PARTITION BY product_id ORDER BY customers DESC, other_id) AS place
        FROM counted
    )
    SELECT product.slug, placed.place, other.slug, placed.customers
    FROM placed
    JOIN products product ON product.id = placed.product_id
    JOIN products other ON other.id = placed.other_id
    WHERE placed.place <= {KEPT}
    """  # noqa: S608 -- constants of this module
)
"""Customers are counted and not orders, so that nobody orders a product beside another one by themselves."""

_BESTSELLERS: Final = text(
    f"""
    INSERT INTO recommendations.bestsellers (category, place, product, sold)
    WITH sold AS (
        SELECT variants.product_id, sum(order_lines.quantity) AS units
        FROM orders JOIN order_lines ON order_lines.order_id = orders.id JOIN variants USING (sku)
        WHERE {_RECENT}
        GROUP BY 1
    ), placed AS (
        SELECT products.slug, products.category_id, coalesce(sold.units, 0) AS units,
               row_number() OVER (
                   PARTITION BY products.category_id ORDER BY sold.units DESC NULLS LAST, products.id
               ) AS place
        FROM products LEFT JOIN sold ON sold.product_id = products.id
        WHERE products.visible
    )
    SELECT categories.slug, placed.place, placed.slug, placed.units
    FROM placed JOIN categories ON categories.id = placed.category_id
    WHERE placed.place <= {KEPT}
    """  # noqa: S608 -- likewise
)
"""Where nothing was sold yet, a shelf keeps the shop's own order."""

_SHELVES: Final = text(
    """
    INSERT INTO recommendations.shelves (product, category)
    SELECT products.slug, categories.slug FROM products JOIN categories ON categories.id = products.category_id
    WHERE products.visible
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresher:
    """Needs a database whose statements may take long; readers see the old ones until the new are whole."""

    database: Database
    every: timedelta

    async def run(self) -> None:
        """For ever; a failure is told in the log and tried again."""
        while True:
            try:
                await self.refresh()
            except Unavailable as away:
                _log.warning("recommendations stay as they were: %s", away)
                await asyncio.sleep(min(AGAIN_S, self.every.total_seconds()))
            else:
                await asyncio.sleep(self.every.total_seconds())

    async def refresh(self) -> bool:
        """Whether it was done; not where another process does it now, or did within half an interval."""
        return await self.database.transaction(self._refresh)

    async def _refresh(self, connection: AsyncConnection) -> bool:
        if not await connection.scalar(select(func.pg_try_advisory_xact_lock(_LOCK))):
            return False
        recent = refreshes.c.at > func.clock_timestamp() - self.every / 2
        if await connection.scalar(select(refreshes.c.at).where(recent)):
            return False
        for table in (pairs, bestsellers, shelves, refreshes):
            await connection.execute(delete(table))
        for statement in (_PAIRS, _BESTSELLERS, _SHELVES):
            await connection.execute(statement)
        await connection.execute(insert(refreshes).values(at=func.clock_timestamp()))
        return True
