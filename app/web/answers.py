"""How an error leaves: a page of ours for people, problem+json for programs."""

from __future__ import annotations

from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from app.web.errors import Problem, problem_of
from app.web.redirects import detour
from app.web.templating import render

PROBLEM_JSON: Final = "application/problem+json"
DOCS: Final = "/docs"

_HEADERS: Final = {"cache-control": "no-store", "vary": "accept"}


def refusal(request: Request, error: Exception) -> Response:
    """The answer to a request that ended in an error."""
    away = None if is_api(request) else detour(request, error)
    return away or answer(request, problem_of(error))


async def refuse(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    """Write that answer from where no route is at work."""
    await refusal(Request(scope), error)(scope, receive, send)


def answer(request: Request, problem: Problem) -> Response:
    """The problem as its reader wants it."""
    headers = {**_HEADERS, **problem.headers}
    if wants_page(request):
        page = render("problem.html", problem=problem, visitor=None)
        return HTMLResponse(page, problem.status, headers=headers)
    return Response(orjson.dumps(as_json(problem)), problem.status, headers, PROBLEM_JSON)


def as_json(problem: Problem) -> dict[str, object]:
    """RFC 9457, with the stable `code`, the shopper's `message`, and the facts as members."""
    return {
        "type": f"{DOCS}#{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "message": problem.message,
        **problem.facts,
    }


def is_api(request: Request) -> bool:
    """Whether a program speaks, whatever it accepts."""
    path: str = request.scope["path"]
    return path == "/api" or path.startswith("/api/")


def wants_page(request: Request) -> bool:
    """Whether a person reads the answer in a browser."""
    return not is_api(request) and "text/html" in request.headers.get("accept", "")
