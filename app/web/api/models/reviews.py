"""What customers say of a product."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.web.api.models.base import Input, ListOut, Output


class NewReview(Input):
    """What a customer says of a product, in place of what they said before."""

    rating: Annotated[int, Field(ge=1, le=5)]
    text: Annotated[str, Field(max_length=8000)] = ""


class ReviewOut(Output):
    """What one customer says."""

    id: str
    author: str
    rating: int
    text: str
    written_at: datetime
    edited_at: datetime | None


class OwnReviewOut(ReviewOut):
    """The same with its status: `pending` and `hidden` ones are seen by their author alone."""

    status: str


class ReviewsOut(ListOut):
    """What customers say, newest first; `average` is of all of them, null where there is none."""

    items: list[ReviewOut]
    average: float | None


class ShownReviewsOut(ReviewsOut):
    """The first of them; `age_s` is null unless they are a copy, made so many seconds ago."""

    age_s: float | None
