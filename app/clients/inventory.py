"""The stock on hand over HTTP: `app.shop.inventory.Inventory`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel, Field

from app.clients.dependency import Dependency, DependencyConfig, Question
from app.resilience import Listener
from app.shop.inventory import Stock

NAME: Final = "inventory"


class UnitsTold(BaseModel):
    """The stock of one variant as the service tells it."""

    sku: str
    stock: int = Field(strict=True, ge=0)


class StockTold(BaseModel):
    """The stock of a product."""

    items: Sequence[UnitsTold]
    as_of: datetime


class HttpInventory:
    """It is the same for everybody, so no token goes along."""

    def __init__(self, config: DependencyConfig, *, listeners: Sequence[Listener] = ()) -> None:
        self.dependency = Dependency(NAME, config, endpoints=("product",), listeners=listeners)

    async def of_product(self, product: str) -> Stock:
        """See the port."""
        path = f"/v1/products/{quote(product, safe='')}/stock"
        told = await self.dependency.ask("product", Question(method="GET", path=path), StockTold)
        return Stock(units={one.sku: one.stock for one in told.items}, as_of=told.as_of)
