"""A product with all that its page shows, asked for side by side; what cannot be shown is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from app.shop.catalog import Catalog, Product, ProductSummary, Variant
from app.shop.degradation import Helpful, Shown, Told
from app.shop.errors import NotFound
from app.shop.inventory import Stock
from app.shop.recommendations import Recommendations
from app.shop.reviews import ReviewsPage

T = TypeVar("T")

_log = logging.getLogger(__name__)

REVIEWS_LISTED: Final = 10
"""On one page of reviews; the product's own page shows the first of them."""

RECOMMENDED_MOST: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductView:
    """What the page shows; a part's value is None where there is nothing to show of it."""

    product: Product
    reviews: Told[ReviewsPage]
    recommendations: Told[Sequence[ProductSummary]]
    stock: Told[Stock]

    @property
    def parts(self) -> Mapping[str, Told[ReviewsPage] | Told[Sequence[ProductSummary]] | Told[Stock]]:
        """By the names of their dependencies."""
        return {
            "reviews": self.reviews,
            "recommendations": self.recommendations,
            "inventory": self.stock,
        }

    @property
    def degraded(self) -> Sequence[str]:
        """The dependencies that could not answer."""
        return [name for name, told in self.parts.items() if told.is_degraded]

    def units(self, variant: Variant) -> int:
        """How many of it there are, as far as is known; the checkout decides."""
        known = {} if self.stock.value is None else self.stock.value.units
        return known.get(variant.sku, variant.stock)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowProduct:
    """`notice` hears of each part that is degraded, and what is shown of it."""

    catalog: Catalog
    reviews: Helpful[ReviewsPage] | None = None
    recommendations: Helpful[Sequence[ProductSummary]] | None = None
    inventory: Helpful[Stock] | None = None
    notice: Callable[[str, Shown], None] = lambda *_: None

    async def __call__(self, slug: str, *, at_once: bool = True) -> ProductView:
        """The product and its parts; raises `NotFound`, and `Unavailable` where the catalogue cannot answer.

        Without `at_once` the parts are asked one after the other, which is for showing what that costs.
        """
        product = await self.catalog.product(slug)
        if product is None:
            raise NotFound("product")
        reviews = await _begun(self.reviews, slug, at_once=at_once)
        recommendations = await _begun(self.recommendations, slug, at_once=at_once)
        stock = await _begun(self.inventory, slug, at_once=at_once)
        await _all_done(reviews, recommendations, stock)
        view = ProductView(
            product=product,
            reviews=_result("reviews", reviews),
            recommendations=_result("recommendations", recommendations),
            stock=_result("inventory", stock),
        )
        for name in view.degraded:
            self.notice(name, view.parts[name].shown)
        return view


async def _begun(helpful: Helpful[T] | None, slug: str, *, at_once: bool) -> asyncio.Task[Told[T]]:
    """Asked; and answered, unless all are asked at once. One that was begun before goes with whoever waits."""
    asked = asyncio.ensure_future(_told(helpful, slug))
    if not at_once:
        await _all_done(asked)
    return asked


async def _told(helpful: Helpful[T] | None, slug: str) -> Told[T]:
    """A service that this shop does without has nothing to show, and nothing is missing."""
    return Told(value=None, shown="fresh") if helpful is None else await helpful(slug)


async def _all_done(*parts: asyncio.Future[Any]) -> None:
    """Wait for each to its own end; they go with whoever waits, and with nobody else."""
    try:
        await asyncio.wait(parts)
    finally:
        for part in parts:
            part.cancel()


def _result(name: str, part: asyncio.Task[Told[T]]) -> Told[T]:
    """What was told; a mistake of ours in one part, or its cancellation, is that part's failure alone."""
    if not part.cancelled() and part.exception() is None:
        return part.result()
    _log.error("%s broke down", name, exc_info=None if part.cancelled() else part.exception())
    return Told(value=None, shown="nothing")


def beside(
    recommendations: Recommendations, catalog: Catalog
) -> Callable[[str], Awaitable[Sequence[ProductSummary]]]:
    """What goes with a product, as the shop sells it now; what it sells no longer is left out."""

    async def ask(slug: str) -> Sequence[ProductSummary]:
        named = await recommendations.beside(slug, most=2 * RECOMMENDED_MOST)
        found = await catalog.summaries([one.product for one in named])
        return found[:RECOMMENDED_MOST]

    return ask
