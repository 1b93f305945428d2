"""Products, in lists and alone."""

from __future__ import annotations

from datetime import datetime

from app.web.api.models.base import ListOut, Output
from app.web.api.models.reviews import ShownReviewsOut


class ProductSummaryOut(Output):
    """A product in a list, at its lowest price."""

    slug: str
    name: str
    category: str
    price: int
    currency: str
    in_stock: bool


class ProductsOut(ListOut):
    """Products."""

    items: list[ProductSummaryOut]


class VariantOut(Output):
    """One thing that can be bought."""

    sku: str
    name: str
    price: int
    stock: int
    options: dict[str, str]


class StockOut(Output):
    """When the stock was looked at; `age_s` is null unless it is the last known one. Null where nobody knows."""

    as_of: datetime
    age_s: float | None


class ProductOut(Output):
    """A product with what belongs to it; `degraded` names the services that could not answer.

    A variant's `stock` is the inventory's, the last known one, or else the catalogue's. `reviews` is null where
    there is not even a copy.
    """

    slug: str
    name: str
    description: str
    category: str
    price: int
    currency: str
    in_stock: bool
    variants: list[VariantOut]
    stock: StockOut | None
    reviews: ShownReviewsOut | None
    recommendations: list[ProductSummaryOut]
    degraded: list[str]
