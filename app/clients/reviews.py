"""The shop's reviews over HTTP: `app.shop.reviews.Reviews` behind compartments of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

from pydantic import BaseModel, Field

from app.clients.dependency import Dependency, DependencyConfig, Question
from app.clients.headers import INTERNAL_TOKEN
from app.resilience import Listener
from app.shop.accounts import Account
from app.shop.errors import NotFound
from app.shop.reviews import Review, ReviewsPage, ReviewStatus

NAME: Final = "reviews"


class ReviewTold(BaseModel):
    """A review as the service tells it; its status only to its author and the owner."""

    id: str
    product: str
    author_name: str
    rating: int = Field(strict=True, ge=1, le=5)
    text: str
    status: ReviewStatus = "shown"
    written_at: datetime
    edited_at: datetime | None

    def review(self) -> Review:
        """As the shop knows it."""
        return Review(**self.model_dump())


class PageTold(BaseModel):
    """One page of reviews."""

    items: Sequence[ReviewTold]
    total: int = Field(strict=True, ge=0)
    page: int
    page_size: int
    average: float | None

    def reviews(self) -> ReviewsPage:
        """As the shop knows it."""
        return ReviewsPage(
            items=[told.review() for told in self.items],
            total=self.total,
            page=self.page,
            page_size=self.page_size,
            average=self.average,
        )


class ForgottenTold(BaseModel):
    """The products whose reviews name their author no longer."""

    products: Sequence[str]


class HttpReviews:
    """Anybody reads without a token; `token` gives the one that says for whom a call is made, `own` the shop's."""

    def __init__(
        self,
        config: DependencyConfig,
        *,
        token: Callable[[Account], str],
        own: Callable[[], str],
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._token = token
        self._own = own
        self.dependency = Dependency(
            NAME, config, endpoints=("list", "mine", "write", "moderate", "forget"), listeners=listeners
        )

    async def page(self, product: str, *, page: int, page_size: int) -> ReviewsPage:
        """See the port."""
        question = Question(method="GET", path=f"{_of(product)}?{_asked(page=page, page_size=page_size)}")
        return (await self.dependency.ask("list", question, PageTold)).reviews()

    async def mine(self, product: str, author: Account) -> Review | None:
        """See the port."""
        question = Question(method="GET", path=f"{_of(product)}/mine", headers=self._for(author))
        try:
            return (await self.dependency.ask("mine", question, ReviewTold)).review()
        except NotFound:
            return None

    async def write(self, product: str, author: Account, *, rating: int, text: str) -> Review:
        """See the port."""
        body = json.dumps({"rating": rating, "text": text}).encode()
        question = Question(method="PUT", path=f"{_of(product)}/mine", headers=self._for(author), body=body)
        return (await self.dependency.ask("write", question, ReviewTold)).review()

    async def remove(self, product: str, author: Account) -> None:
        """See the port."""
        question = Question(method="DELETE", path=f"{_of(product)}/mine", headers=self._for(author))
        await self.dependency.tell("write", question)

    async def forget(self, author_id: str) -> Sequence[str]:
        """See the port."""
        question = Question(
            method="DELETE",
            path=f"/v1/authors/{quote(author_id, safe='')}/name",
            headers={INTERNAL_TOKEN: self._own()},
        )
        return (await self.dependency.ask("forget", question, ForgottenTold)).products

    async def waiting(
        self, owner: Account, *, status: ReviewStatus, page: int, page_size: int
    ) -> ReviewsPage:
        """See the port."""
        asked = _asked(status=status, page=page, page_size=page_size)
        question = Question(method="GET", path=f"/v1/reviews?{asked}", headers=self._for(owner))
        return (await self.dependency.ask("moderate", question, PageTold)).reviews()

    async def judge(self, owner: Account, review_id: str, status: ReviewStatus) -> Review:
        """See the port."""
        question = Question(
            method="PUT",
            path=f"/v1/reviews/{quote(review_id, safe='')}",
            headers=self._for(owner),
            body=json.dumps({"status": status}).encode(),
        )
        return (await self.dependency.ask("moderate", question, ReviewTold)).review()

    def _for(self, account: Account) -> Mapping[str, str]:
        return {INTERNAL_TOKEN: self._token(account), "Content-Type": "application/json"}


def _of(product: str) -> str:
    return f"/v1/products/{quote(product, safe='')}/reviews"


def _asked(**asked: object) -> str:
    return urlencode(asked)
