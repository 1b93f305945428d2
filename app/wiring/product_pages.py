"""The product page and its helpful services, each under its row of the degradation table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from app.clients.inventory import HttpInventory
from app.clients.recommendations import HttpRecommendations
from app.clients.reviews import HttpReviews
from app.shop.catalog import Catalog, ProductSummary
from app.shop.degradation import TABLE, Copies, Helpful
from app.shop.inventory import Stock
from app.shop.product_page import REVIEWS_LISTED, ShowProduct, beside
from app.shop.reviewing import Reviewing
from app.shop.reviews import ReviewsPage
from app.stores.copies import Cache, CachedCopies
from app.wiring.downstream import Downstream

T = TypeVar("T")


def product_pages(catalog: Catalog, downstream: Downstream) -> tuple[ShowProduct, Reviewing | None]:
    """The use cases: the page, and what people do with reviews where there are any."""
    reviewing = _reviewing(catalog, downstream.reviews, downstream.cache)
    show = ShowProduct(
        catalog=catalog,
        reviews=None if reviewing is None else reviewing.first_page,
        recommendations=_recommendations(catalog, downstream.recommendations),
        inventory=_inventory(downstream.inventory, downstream.cache),
        notice=downstream.notice,
    )
    return show, reviewing


def _recommendations(
    catalog: Catalog, client: HttpRecommendations | None
) -> Helpful[Sequence[ProductSummary]] | None:
    if client is None:
        return None
    return Helpful(policy=TABLE["recommendations"], ask=beside(client, catalog))


def _inventory(client: HttpInventory | None, cache: Cache) -> Helpful[Stock] | None:
    if client is None:
        return None
    copies = _copies(cache, "inventory", TypeAdapter(Stock))
    return Helpful(policy=TABLE["inventory"], ask=client.of_product, copies=copies)


def _reviewing(catalog: Catalog, reviews: HttpReviews | None, cache: Cache) -> Reviewing | None:
    if reviews is None:
        return None
    copies = _copies(cache, "reviews", TypeAdapter(ReviewsPage))

    async def first_page(product: str) -> ReviewsPage:
        return await reviews.page(product, page=1, page_size=REVIEWS_LISTED)

    first = Helpful(policy=TABLE["reviews"], ask=first_page, copies=copies)
    return Reviewing(reviews=reviews, catalog=catalog, first_page=first, copies=copies)


def _copies(cache: Cache, dependency: str, answers: TypeAdapter[T]) -> Copies[T]:
    """Raises `ValueError` where the table has no limit for them."""
    limit = TABLE[dependency].copy_limit
    if limit is None:
        raise ValueError(f"the table gives no limit for copies of {dependency}")
    return CachedCopies(cache, dependency, answers, limit=limit)
