"""Which headers pass. A request's pass unless a rule here says no; so do an answer's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from app.clients.headers import INTERNAL_TOKEN
from app.resilience import deadline

Headers = list[tuple[bytes, bytes]]

HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"http2-settings",
        b"keep-alive",
        b"proxy",
        b"te",
        b"trailer",
        b"trailers",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, 7.6.1: meant for one connection. What `Connection` names and what begins with `Proxy-` likewise;
`Proxy` itself is what CGI reads as `HTTP_PROXY`."""

OURS: Final = frozenset(
    {
        b"content-length",
        b"expect",
        b"forwarded",
        b"host",
        b"via",
        b"x-real-ip",
        b"x-request-id",
        b"x-request-start",
        INTERNAL_TOKEN.lower().encode(),
        deadline.HEADER.lower().encode(),
    }
)
"""Said by the gateway itself or by nobody. So is what begins with `X-Forwarded-`."""

SECRETS: Final = frozenset({b"cookie", b"cookie2", b"from"})
"""Between the shop and the browser."""

KNOWN: Final = frozenset({b"authorization", b"user-agent", b"origin"})
"""Pass, although the words below are in some of their names."""

_OURS_BEGIN: Final = (b"proxy-", b"x-forward", b"x-chopho", b"x-envoy-")

_MISLEADS: Final = re.compile(
    rb"account|actor|admin|auth|caller|claim|client|consumer|credential|customer|e-?mail|entitle|forwarded|group"
    rb"|ident|impersonat|internal|jwt|login|member|oidc|operator|origina[lt]|overrid|owner|permission|principal"
    rb"|privilege|remote|rewrite|role|saml|scope|session|socketip|spiffe|sso|staff|subject|subrequest|sudo|tenant|user"
    rb"|(?:^|-)(?:uid|sub|gid|sid|as|on-behalf-of|ip|ipv6|person|perms|organization|org-id)(?:-|$)"
    rb"|x-(?:real-)?host|x-http|front-end-https|^https$"
    rb"|^x-(?:path|port|protocol|query-string|request-ur[il]|script-name|server-(?:name|port)|(?:url-)?scheme|ur[il])$"
)
"""Words of a name that some service might take for who calls, or for what is called."""

_NAME: Final = re.compile(rb"[a-z0-9-]{1,64}")
"""Names of other characters do not pass: CGI and WSGI read `X_User` as `X-User`."""

CLOSED_ANSWERS: Final = frozenset(
    {
        b"alt-svc",
        b"clear-site-data",
        b"content-length",
        b"content-location",
        b"content-security-policy",
        b"content-security-policy-report-only",
        b"cross-origin-embedder-policy",
        b"cross-origin-opener-policy",
        b"cross-origin-resource-policy",
        b"link",
        b"location",
        b"nel",
        b"origin-agent-cluster",
        b"permissions-policy",
        b"referrer-policy",
        b"refresh",
        b"report-to",
        b"reporting-endpoints",
        b"server",
        b"server-timing",
        b"service-worker-allowed",
        b"set-cookie",
        b"set-cookie2",
        b"sourcemap",
        b"strict-transport-security",
        b"via",
        b"x-aspnet-version",
        b"x-backend-server",
        b"x-content-type-options",
        b"x-frame-options",
        b"x-generator",
        b"x-powered-by",
        b"x-request-id",
        b"x-runtime",
        b"x-sendfile",
        b"x-served-by",
        b"x-sourcemap",
        b"x-xss-protection",
    }
)
"""What a service may not say in the shop's name: to browsers about the shop's origin, or about its own insides."""

_CLOSED_ANSWERS_BEGIN: Final = (
    b"access-control-",
    b"proxy-",
    b"x-accel-",
    b"x-account",
    b"x-chopho",
    b"x-debug",
    b"x-forwarded",
    b"x-internal",
    b"x-user",
)

_NONE: Final[frozenset[bytes]] = frozenset()

_CONTROL: Final = bytes({*range(0x20), 0x7F} - {ord("\t")})


@lru_cache(maxsize=2048)  # the same few names over and over; made-up ones push each other out
def passes_in(name: bytes) -> bool:
    """Whether a request's header of that name, in lower case, reaches the service."""
    if name in KNOWN:
        return True
    if name in HOP_BY_HOP or name in OURS or name in SECRETS or name.startswith(_OURS_BEGIN):
        return False
    return _NAME.fullmatch(name) is not None and _MISLEADS.search(name) is None


@lru_cache(maxsize=2048)
def passes_out(name: bytes) -> bool:
    """Whether an answer's header of that name, in lower case, reaches the client."""
    if name in HOP_BY_HOP or name in CLOSED_ANSWERS or name.startswith(_CLOSED_ANSWERS_BEGIN):
        return False
    return _NAME.fullmatch(name) is not None


def passed_in(headers: Iterable[tuple[bytes, bytes]], named: frozenset[bytes]) -> Headers:
    """What passes of a request; `named` are the headers that `Connection` names."""
    if named:
        return [pair for pair in headers if passes_in(pair[0]) and pair[0] not in named]
    return [pair for pair in headers if passes_in(pair[0])]


def passed_out(headers: Headers) -> Headers:
    """What passes of an answer; a value with control characters does not."""
    named = named_by_connection(headers)
    passed = [pair for pair in headers if passes_out(pair[0]) and pair[0] not in named]
    if is_control(b"".join([value for _, value in passed])):
        return [pair for pair in passed if not is_control(pair[1])]
    return passed


def is_control(value: bytes) -> bool:
    """Whether there are characters in it that could end a line, or a log's peace."""
    return len(value.translate(None, _CONTROL)) != len(value)  # ten times as fast as a pattern


def named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The headers that are for this connection alone, as it says itself."""
    said = [value for name, value in headers if name == b"connection"]
    if not said:
        return _NONE
    return frozenset(option.strip().lower() for option in b",".join(said).split(b","))
