"""How the API answers: JSON written by orjson, what belongs to a session kept by nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

PRIVATE: Final = {"cache-control": "private, no-store", "vary": "cookie"}
PUBLIC: Final = {"cache-control": "no-cache"}


def private(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that differs with the session."""
    return Response(orjson.dumps(content), status, {**PRIVATE, **(headers or {})}, "application/json")


def public(content: object, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that is the same for everybody, asked for again each time."""
    return Response(orjson.dumps(content), 200, {**PUBLIC, **(headers or {})}, "application/json")


def nothing() -> Response:
    """Done, and nothing to say."""
    return Response(status_code=204, headers=PRIVATE)


class HotRoute(APIRoute):
    """A route that FastAPI documents and Starlette runs: half the cost of one whose arguments are solved.

    Its endpoint takes the Request alone and returns the Response; `response_model` is what the document says.
    """

    def __init__(self, path: str, endpoint: Callable[[Request], Any], **described: Any) -> None:  # noqa: ANN401  # what APIRoute takes
        super().__init__(path, endpoint, **described)
        self.app = _called(endpoint)


def _called(endpoint: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    """Without the second catcher of errors that Starlette puts around each view: the outer one has the same handlers."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    return app
