"""Reading what a service is asked: strictly, boundedly, and refused in one line."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.shop.errors import Invalid
from app.shop.paging import PAGE_MOST, PAGE_SIZE_MOST
from app.shop.text import storable

BODY_MOST: Final = 64 * 1024
"""Bytes; what services are told is short."""

NAME_MOST: Final = 200
"""Characters of a slug or an id."""


class Asked(BaseModel):
    """A query or a body: an unknown field is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Paging(Asked):
    """Which page of a list."""

    page: int = Field(1, ge=1, le=PAGE_MOST)
    page_size: int = Field(20, ge=1, le=PAGE_SIZE_MOST)


T = TypeVar("T", bound=Asked)


def query_of(request: Request, shape: type[T]) -> T:
    """The query in that shape; raises `Invalid`."""
    try:
        return shape.model_validate(dict(request.query_params))
    except ValidationError as wrong:
        raise _invalid(wrong) from None


async def body_of(request: Request, shape: type[T]) -> T:
    """The JSON body in that shape; raises `Invalid`, or 413 for a body that is too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_MOST:
            raise HTTPException(413, f"the body has more than {BODY_MOST} bytes", {"Connection": "close"})
    try:
        return shape.model_validate_json(body)
    except ValidationError as wrong:
        raise _invalid(wrong) from None


def named(request: Request, name: str) -> str:
    """The part of the path, as a slug or id could be; 404 for what none can be."""
    value: str = request.path_params[name]
    if not storable(value, most=NAME_MOST):
        raise HTTPException(404, f"no such {name}")
    return value


def _invalid(wrong: ValidationError) -> Invalid:
    first = wrong.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "body"
    return Invalid(where, first["msg"])
