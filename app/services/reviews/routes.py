"""The reviews' JSON API: everybody reads, people write what is theirs, the owner moderates, the shop forgets."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.services.callers import required_owner, required_person, required_program
from app.services.requests import Asked, Paging, body_of, named, query_of
from app.services.reviews.store import SqlReviews
from app.shop.reviews import Review, ReviewsPage, ReviewStatus, checked_review


class Written(Asked):
    """What a customer says; who says it is in the token."""

    rating: int = Field(strict=True)
    text: str = ""


class Queue(Paging):
    """Which reviews the owner looks at."""

    status: ReviewStatus = "pending"


class Verdict(Asked):
    """What becomes of a review."""

    status: ReviewStatus


async def listed(request: Request) -> Response:
    """The reviews of a product that are shown, newest first, their number and their average."""
    asked = query_of(request, Paging)
    found = await _store(request).shown(_product(request), page=asked.page, page_size=asked.page_size)
    return JSONResponse(_page(found, _public))


async def mine(request: Request) -> Response:
    """What the caller said of it."""
    person = required_person(request)
    found = await _store(request).of(_product(request), person.subject)
    if found is None:
        raise HTTPException(404, "no such review")
    return JSONResponse(_own(found))


async def write(request: Request) -> Response:
    """Keep what the caller says, in place of what they said before."""
    person = required_person(request)
    asked = await body_of(request, Written)
    rating, text = checked_review(rating=asked.rating, text=asked.text)
    kept = await _store(request).write(_product(request), person, rating=rating, text=text)
    return JSONResponse(_own(kept))


async def remove(request: Request) -> Response:
    """Forget what the caller said of it."""
    person = required_person(request)
    await _store(request).remove(_product(request), person.subject)
    return Response(status_code=204)


async def forget(request: Request) -> Response:
    """Take the name of an account that is gone off its reviews, for the shop; again is the same."""
    required_program(request)
    products = await _store(request).forget(named(request, "author"))
    return JSONResponse({"products": list(products)})


async def queue(request: Request) -> Response:
    """Reviews of a status, oldest first, for the owner."""
    required_owner(request)
    asked = query_of(request, Queue)
    found = await _store(request).waiting(asked.status, page=asked.page, page_size=asked.page_size)
    return JSONResponse(_page(found, _own))


async def judge(request: Request) -> Response:
    """Show or hide one."""
    owner = required_owner(request)
    verdict = await body_of(request, Verdict)
    found = await _store(request).judge(named(request, "review"), verdict.status, by=owner.subject)
    if found is None:
        raise HTTPException(404, "no such review")
    return JSONResponse(_own(found))


routes: Final = [
    Route("/v1/products/{product}/reviews", listed, methods=["GET"]),
    Route("/v1/products/{product}/reviews/mine", mine, methods=["GET"]),
    Route("/v1/products/{product}/reviews/mine", write, methods=["PUT"]),
    Route("/v1/products/{product}/reviews/mine", remove, methods=["DELETE"]),
    Route("/v1/authors/{author}/name", forget, methods=["DELETE"]),
    Route("/v1/reviews", queue, methods=["GET"]),
    Route("/v1/reviews/{review}", judge, methods=["PUT"]),
]


def _store(request: Request) -> SqlReviews:
    store: SqlReviews = request.app.state.reviews
    return store


def _product(request: Request) -> str:
    return named(request, "product")


def _page(found: ReviewsPage, told: Any) -> dict[str, object]:  # noqa: ANN401 -- one of the two below
    return {
        "items": [told(review) for review in found.items],
        "total": found.total,
        "page": found.page,
        "page_size": found.page_size,
        "average": found.average,
    }


def _public(review: Review) -> dict[str, object]:
    return {
        "id": review.id,
        "product": review.product,
        "author_name": review.author_name,
        "rating": review.rating,
        "text": review.text,
        "written_at": review.written_at.isoformat(),
        "edited_at": review.edited_at and review.edited_at.isoformat(),
    }


def _own(review: Review) -> dict[str, object]:
    """With its status, which is nobody's business but its author's and the owner's."""
    return {**_public(review), "status": review.status}
