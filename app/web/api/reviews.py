"""Reviews of products: read by everybody, written by who is logged in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import Account
from app.shop.errors import NotFound
from app.shop.reviews import Review
from app.web.api.answers import nothing, private, public
from app.web.api.models.reviews import NewReview, OwnReviewOut, ReviewsOut
from app.web.api.paging import PageNumber, PageSize, listed
from app.web.shopping import known_name, reviewing_of
from app.web.visitors import customer_account

router = APIRouter(tags=["reviews"], prefix="/products/{slug}/reviews")

Customer = Annotated[Account, Depends(customer_account)]


@router.get("", response_model=ReviewsOut)
async def page(request: Request, slug: str, page: PageNumber = 1, page_size: PageSize = 10) -> Response:
    """What customers say of it, newest first; `average` is of all of them."""
    reviews = reviewing_of(request).reviews
    found = await reviews.page(known_name("product", slug), page=page, page_size=page_size)
    return public({**listed(found, review_as_json), "average": found.average})


@router.get("/mine", response_model=OwnReviewOut)
async def mine(request: Request, slug: str, customer: Customer) -> Response:
    """What this account said of it, whatever its status."""
    found = await reviewing_of(request).reviews.mine(known_name("product", slug), customer)
    if found is None:
        raise NotFound("review")
    return private(_own(found))


@router.put("/mine", response_model=OwnReviewOut)
async def write(request: Request, slug: str, customer: Customer, body: NewReview) -> Response:
    """Say it, in place of what this account said before; sending it again changes nothing."""
    name = known_name("product", slug)
    kept = await reviewing_of(request).write(name, customer, rating=body.rating, text=body.text)
    return private(_own(kept))


@router.delete("/mine", status_code=204)
async def remove(request: Request, slug: str, customer: Customer) -> Response:
    """Take it back."""
    await reviewing_of(request).remove(known_name("product", slug), customer)
    return nothing()


def review_as_json(review: Review) -> dict[str, object]:
    """As everybody sees it."""
    return {
        "id": review.id,
        "author": review.author_name,
        "rating": review.rating,
        "text": review.text,
        "written_at": review.written_at,
        "edited_at": review.edited_at,
    }


def _own(review: Review) -> dict[str, object]:
    return {**review_as_json(review), "status": review.status}
