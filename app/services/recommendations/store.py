"""Recommendations as they were computed last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import literal, select, union_all

from app.services.recommendations.tables import bestsellers, pairs, refreshes, shelves
from app.shop.recommendations import Recommended
from app.stores.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRecommendations:
    """Reads what `Refresher` wrote."""

    database: Database

    async def beside(self, product: str, *, most: int) -> Sequence[Recommended]:
        """What was bought together with it; then, where that is little, what its shelf sells most."""
        together = select(
            pairs.c.other.label("product"), literal("bought_together").label("reason"), pairs.c.place
        )
        best = select(bestsellers.c.product, literal("bestseller").label("reason"), bestsellers.c.place).join(
            shelves, shelves.c.category == bestsellers.c.category
        )
        both = union_all(
            together.where(pairs.c.product == product),
            best.where(shelves.c.product == product, bestsellers.c.product != product),
        ).subquery("both")
        rows = await self.database.rows(select(both).order_by(both.c.reason.desc(), both.c.place))
        found: dict[str, Recommended] = {}
        for row in rows:
            found.setdefault(row.product, Recommended(product=row.product, reason=row.reason))
        return list(found.values())[:most]

    async def refreshed_at(self) -> datetime | None:
        """When they were computed; None before the first time."""
        row = await self.database.row(select(refreshes.c.at))
        return None if row is None else row.at
