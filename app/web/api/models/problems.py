"""What every refusal looks like."""

from __future__ import annotations

from pydantic import BaseModel

from app.web.api.models.base import Output


class FaultOut(Output):
    """A field that cannot be."""

    field: str
    code: str
    detail: str
    message: str


class ProblemOut(BaseModel):
    """RFC 9457; `code` is stable, `detail` for programmers, `message` (Vietnamese) for shoppers."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    message: str
    errors: list[FaultOut] = []
