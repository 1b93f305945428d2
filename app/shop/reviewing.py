"""Writing and moderating reviews, so that no copy outlives what was changed."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.accounts import Account
from app.shop.catalog import Catalog
from app.shop.degradation import Copies, Helpful, Told
from app.shop.errors import NotFound, Unavailable
from app.shop.product_page import REVIEWS_LISTED
from app.shop.reviews import Review, Reviews, ReviewsPage, ReviewStatus, checked_review


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """What people do with reviews; `first_page` is the helpful dependency that the product's page shows too."""

    reviews: Reviews
    catalog: Catalog
    first_page: Helpful[ReviewsPage]
    copies: Copies[ReviewsPage]

    async def page(self, product: str, page: int) -> Told[ReviewsPage]:
        """One page of a product's reviews; of the first one there may be a copy."""
        if page == 1:
            return await self.first_page(product)
        try:
            found = await self.reviews.page(product, page=page, page_size=REVIEWS_LISTED)
        except Unavailable:
            return Told(value=None, shown="nothing")
        return Told(value=found, shown="fresh")

    async def write(self, product: str, author: Account, *, rating: int, text: str) -> Review:
        """Keep what the customer says; raises `Invalid`, `NotFound` for no such product, `Unavailable`."""
        rating, text = checked_review(rating=rating, text=text)
        if not await self.catalog.summaries([product]):
            raise NotFound("product")
        written = await self.reviews.write(product, author, rating=rating, text=text)
        await self.copies.drop(product)
        return written

    async def remove(self, product: str, author: Account) -> None:
        """Forget what the customer said; raises `Unavailable`."""
        await self.reviews.remove(product, author)
        await self.copies.drop(product)

    async def forget(self, author_id: str) -> None:
        """Take the name of an account that is gone off its reviews, which stay; raises `Unavailable`."""
        for product in await self.reviews.forget(author_id):
            await self.copies.drop(product)

    async def judge(self, owner: Account, review_id: str, status: ReviewStatus) -> Review:
        """Show or hide one; raises `NotFound`, `Unavailable`."""
        judged = await self.reviews.judge(owner, review_id, status)
        await self.copies.drop(judged.product)
        return judged
