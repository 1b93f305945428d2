"""`/echo`: every service answers what it received, so that anybody can see what passes between."""

from __future__ import annotations

import base64
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

MOST: Final = 64 * 1024
"""Bytes of a body that are told; `size` counts them all."""

METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


async def echo(request: Request) -> JSONResponse:
    """The request as JSON: headers in their order, the body in Base64."""
    begin, size = b"", 0
    async for chunk in request.stream():
        begin = (begin + chunk)[:MOST] if size < MOST else begin
        size += len(chunk)
    scope = request.scope
    return JSONResponse(
        {
            "method": request.method,
            "path": scope["raw_path"].decode("latin-1"),
            "query": scope["query_string"].decode("latin-1"),
            "http_version": scope["http_version"],
            "client": list(scope["client"] or ()),
            "headers": [
                [name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]
            ],
            "body": base64.b64encode(begin).decode(),
            "size": size,
        }
    )


def route() -> Route:
    """The route of it."""
    return Route("/echo", echo, methods=METHODS)
