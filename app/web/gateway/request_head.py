"""The head of the request that a service gets."""

from __future__ import annotations

import re
from typing import Final

from starlette.types import Scope

from app.clients.headers import INTERNAL_TOKEN
from app.web.edge.proxies import forwarded_chain
from app.web.edge.requests import header_values
from app.web.errors import Malformed
from app.web.gateway.headers import is_control, named_by_connection, passed_in
from app.web.origins import Origin

_UNSAFE: Final = re.compile(rb"[^\x21-\x7e]")


class RequestHeads:
    """Writes heads for one service, which sees its own name and, behind it, the shop's."""

    def __init__(self, *, authority: bytes, origin: Origin) -> None:
        host = str(origin).removeprefix(f"{origin.scheme}://").encode()
        self._constant = b" HTTP/1.1\r\nhost: %b\r\nx-forwarded-proto: %b\r\nx-forwarded-host: %b\r\n" % (
            authority,
            origin.scheme.encode(),
            host,
        )

    def head(
        self,
        scope: Scope,
        path: bytes,
        *,
        more: bytes,
        token: str | None,
    ) -> bytes:
        """The head, with `more` whole lines in it; raises `Malformed`."""
        headers = scope["headers"]
        passed = passed_in(headers, named_by_connection(headers))
        if is_control(b"".join([value for _, value in passed])):
            raise Malformed("a header has a control character")
        query: bytes = scope["query_string"]
        return b"%b %b%b%bx-forwarded-for: %b\r\nx-request-id: %b\r\n%b%b\r\n" % (
            scope["method"].encode(),
            path + b"?" + _UNSAFE.sub(_escaped, query) if query else path,
            self._constant,
            b"".join([b"%b: %b\r\n" % pair for pair in passed]),
            forwarded_chain(scope),
            scope["state"]["request_id"].encode(),
            more,
            b"" if token is None else f"{INTERNAL_TOKEN}: {token}\r\n".encode(),
        )


def framing_of(scope: Scope) -> bytes:
    """How the body is told to the service: its length, that it comes in chunks, or b"": there is none.

    Raises `Malformed` where two programs could read different bodies: more than one length, a length and
    chunks, another encoding, or a body that a GET has.
    """
    lengths = header_values(scope, b"content-length")
    encodings = header_values(scope, b"transfer-encoding")
    if not lengths and not encodings:
        return b""
    if len(lengths) + len(encodings) > 1 or not all(encoding.lower() == b"chunked" for encoding in encodings):
        raise Malformed("the length of the body is told in more than one way")
    if encodings:
        framing = b"transfer-encoding: chunked\r\n"
    elif lengths[0].isdigit() and len(lengths[0]) <= 18:
        framing = b"content-length: %d\r\n" % int(lengths[0])
    else:
        raise Malformed("the length of the body is no number")
    if scope["method"] in {"GET", "HEAD"}:
        if framing == b"content-length: 0\r\n":
            return b""
        raise Malformed("a GET has no body")
    return framing


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]
