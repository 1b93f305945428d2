"""What every answer carries: its request id, who served it, and what browsers must not do with it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.edge.proxies import is_vouched
from app.web.edge.requests import header_values

Headers = Sequence[tuple[bytes, bytes]]

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_STAMP: Final = "chopho.stamp"

SECURITY_HEADERS: Final[Headers] = (
    (
        b"content-security-policy",
        (
            b"default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
            b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
"""A year, as is usual; without subdomains, which may be somebody else's."""


class Stamp:
    """Gives the request an id and every answer its stamp.

    An id is kept only from a trusted proxy and only if it could do no harm in a log; else it is made new.
    """

    def __init__(self, app: ASGIApp, *, replica_name: str, secure: bool) -> None:
        self.app = app
        served_by = (b"x-served-by", replica_name.encode())
        self._constant = (served_by, *SECURITY_HEADERS, *((_HSTS,) if secure else ()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the stamp."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _kept_id(scope) or secrets.token_hex(16).encode()
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        stamp = scope[_STAMP] = ((b"x-request-id", request_id), *self._constant)

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *stamp]}
            await send(message)

        await self.app(scope, receive, stamped)


def stamp_of(scope: Scope) -> Headers:
    """The headers for an answer that is written outside the `Stamp` (the one for a crash)."""
    stamp: Headers = scope.get(_STAMP, ())
    return stamp


def _kept_id(scope: Scope) -> bytes | None:
    ids = header_values(scope, b"x-request-id") if is_vouched(scope) else []
    return ids[0] if len(ids) == 1 and _REQUEST_ID.fullmatch(ids[0]) else None
