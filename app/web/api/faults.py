"""What pydantic refuses, told as a problem of ours: which fields, by which stable code, without the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi.exceptions import RequestValidationError

from app.web.errors import Malformed, Problem, fault, problem_of
from app.web.messages import message_of

LISTED_MOST: Final = 20
"""Faults in one answer; a body can hold a hundred thousand."""

_NAME_MOST: Final = 100
"""Characters of a field's name, which the client may have made up."""

_CODES: Final = {
    "missing": "missing",
    "extra_forbidden": "unknown_field",
    "string_too_long": "too_long",
    "string_unicode": "not_text",
}
_LIMIT_CODES: Final = {("expected_total", "less_than_equal"): "amount_large"}
_FIELD_CODES: Final = {
    "quantity": "quantity_invalid",
    "expected_total": "total_invalid",
    "page": "number_invalid",
    "page_size": "number_invalid",
}


def problem_with(refused: RequestValidationError) -> Problem:
    """The problem that a request's body or query has."""
    found: Sequence[Mapping[str, Any]] = refused.errors()
    if any(error["type"] == "json_invalid" for error in found):
        return problem_of(Malformed("the body is not JSON"))
    return Problem(
        status=422,
        code="invalid",
        detail="the request has fields that cannot be",
        message=message_of("invalid"),
        facts={"errors": [_fault(error) for error in found[:LISTED_MOST]]},
    )


def _fault(error: Mapping[str, Any]) -> dict[str, str]:
    name = ".".join(str(part) for part in error["loc"][1:]) or str(error["loc"][0])
    last = name.rpartition(".")[2]
    code = (
        _CODES.get(error["type"])
        or _LIMIT_CODES.get((last, error["type"]))
        or _FIELD_CODES.get(last, "invalid")
    )
    return fault(name[:_NAME_MOST], code, error["msg"])
