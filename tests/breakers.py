"""The breakers of a replica that knows every service, in the order in which they are listed."""

from __future__ import annotations

from typing import Final

BREAKERS: Final = (
    "payments.authorise",
    "payments.change",
    "payments.ask",
    "reviews.list",
    "reviews.mine",
    "reviews.write",
    "reviews.moderate",
    "reviews.forget",
    "recommendations.beside",
    "inventory.product",
    "cache.read",
    "cache.write",
    "gateway.reviews.list",
    "gateway.reviews.mine",
    "gateway.recommendations.beside",
    "gateway.inventory.product",
    "gateway.inventory.skus",
)
