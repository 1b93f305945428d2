"""What a service refuses, as RFC 9457 says it, with a stable `code`."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from http.client import responses

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from app.shop.errors import Invalid, Unavailable


class Problem(JSONResponse):
    """One problem."""

    media_type = "application/problem+json"

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        title = responses.get(status, "Unassigned")
        told = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
        super().__init__(told, status, headers)


def install(app: Starlette) -> None:
    """Answer as problems what every service may refuse."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Invalid, _invalid)
    app.add_exception_handler(Unavailable, _unavailable)
    app.add_exception_handler(ClientDisconnect, _gone)


def _http(_: Request, error: Exception) -> Problem:
    assert isinstance(error, HTTPException)  # noqa: S101 -- Starlette hands over what it was registered for
    code = HTTPStatus(error.status_code).name.lower()
    return Problem(error.status_code, code, error.detail, error.headers)


def _invalid(_: Request, error: Exception) -> Problem:
    assert isinstance(error, Invalid)  # noqa: S101 -- likewise
    return Problem(422, "invalid", f"{error.field}: {error.message}")


def _unavailable(_: Request, error: Exception) -> Problem:
    assert isinstance(error, Unavailable)  # noqa: S101 -- likewise
    return Problem(503, "unavailable", str(error), {"Retry-After": str(error.retry_after_s)})


def _gone(_: Request, __: Exception) -> Problem:
    """Nobody reads it; a caller that hangs up within its body is no failure of ours."""
    return Problem(400, "client_gone", "the body was not whole when its sender left")
