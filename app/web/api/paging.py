"""Pages of a list, as asked for and as given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Query
from pydantic import BeforeValidator

from app.shop.errors import Invalid
from app.shop.paging import PAGE_MOST, PAGE_SIZE_MOST, Page
from app.web.forms import whole_number


def _digits(given: object) -> object:
    """ASCII digits only: pydantic alone would take ``1_000`` and ``１２``."""
    if isinstance(given, str):
        try:
            return whole_number("number", given)
        except Invalid as unusable:
            raise ValueError(unusable.message) from unusable
    return given


PageNumber = Annotated[int, Query(ge=1, le=PAGE_MOST), BeforeValidator(_digits)]
PageSize = Annotated[int, Query(ge=1, le=PAGE_SIZE_MOST), BeforeValidator(_digits)]

T = TypeVar("T")


def listed(page: Page[T], as_json: Callable[[T], object]) -> dict[str, object]:
    """A page as every list is given."""
    return {
        "items": [as_json(item) for item in page.items],
        "total": page.total,
        "page": page.page,
        "page_size": page.page_size,
    }
