"""Reviews of products: one from each customer, kept by a service of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from app.shop.accounts import Account
from app.shop.errors import Invalid
from app.shop.paging import Page
from app.shop.text import clean

ReviewStatus = Literal["pending", "shown", "hidden"]

RATINGS: Final = range(1, 6)
TEXT_MOST: Final = 2000
"""Characters; a page and a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What one customer says of a product; `text` is plain and may be empty, `edited_at` is None until it is.

    `author_name` is empty where the account was erased.
    """

    id: str
    product: str
    author_name: str
    rating: int
    text: str
    status: ReviewStatus
    written_at: datetime
    edited_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class ReviewsPage(Page[Review]):
    """One page of reviews; `average` is the rating of all of them, None where there is none."""

    items: Sequence[Review]  # said again for who reads copies by these types
    average: float | None


class Reviews(Protocol):
    """The service that keeps reviews. Raises `Unavailable`."""

    async def page(self, product: str, *, page: int, page_size: int) -> ReviewsPage:
        """The reviews of the product with that slug; raises `Invalid` for a page that no list has."""

    async def mine(self, product: str, author: Account) -> Review | None:
        """What this customer said of it, whatever its status."""

    async def write(self, product: str, author: Account, *, rating: int, text: str) -> Review:
        """Keep it in place of what this customer said before; the same again changes nothing.

        Raises `Unavailable` also where it may have been kept: writing it again is then right.
        """

    async def remove(self, product: str, author: Account) -> None:
        """Forget what this customer said of it, if anything."""

    async def forget(self, author_id: str) -> Sequence[str]:
        """Take the name of that account off its reviews; their products, also when it was done before."""

    async def waiting(
        self, owner: Account, *, status: ReviewStatus, page: int, page_size: int
    ) -> ReviewsPage:
        """The reviews of that status of all products, oldest first, for the owner."""

    async def judge(self, owner: Account, review_id: str, status: ReviewStatus) -> Review:
        """Show or hide one; raises `NotFound`."""


def checked_review(*, rating: int, text: str) -> tuple[int, str]:
    """The rating and the text as they are kept, or `Invalid`."""
    if rating not in RATINGS:
        raise Invalid("rating", "must be 1 to 5", code="rating_invalid")
    return rating, _text(text)


def _text(typed: str) -> str:
    """Paragraphs stay, each cleaned; an empty one in between goes."""
    if len(typed) > 4 * TEXT_MOST:
        raise Invalid("text", f"must have at most {TEXT_MOST} characters", code="too_long")
    paragraphs = [clean("text", part, most=TEXT_MOST, least=0) for part in re.split(r"\r\n|\r|\n", typed)]
    text = "\n".join(part for part in paragraphs if part)
    if len(text) > TEXT_MOST:
        raise Invalid("text", f"must have at most {TEXT_MOST} characters", code="too_long")
    return text
