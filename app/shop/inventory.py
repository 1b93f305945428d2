"""Stock on hand as a service of its own tells it; what can be sold is decided at the checkout alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.shop.catalog import Sku


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """The units of each variant of a product at one moment."""

    units: Mapping[Sku, int]
    as_of: datetime


class Inventory(Protocol):
    """The service that tells it. Raises `Unavailable`."""

    async def of_product(self, product: str) -> Stock:
        """The stock of every variant of the product with that slug; no units for what the shop does not know."""
