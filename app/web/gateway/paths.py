"""Reading a path so that it means one thing here and at the service, or refusing it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from app.web.errors import Malformed

PREFIX: Final = "/api/services/"

_LONGEST: Final = 1024
_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_SAFE: Final = "-._~!$&'()*+,;=:@"
"""What RFC 3986 lets stand in a segment."""


def segments_of(raw_path: bytes) -> tuple[str, ...]:
    """The segments after the prefix, decoded; raises `Malformed` for whatever two programs could read differently.

    Refused: dot and empty segments, slashes and backslashes that are encoded, percent signs that are (the
    path would decode twice), control characters, and what is not UTF-8.
    """
    prefix = PREFIX.encode()
    if not raw_path.startswith(prefix) or len(raw_path) > _LONGEST:
        raise Malformed(f"the path must begin with {PREFIX} as it is and have at most {_LONGEST} bytes")
    return tuple(_decoded(segment) for segment in raw_path[len(prefix) :].split(b"/"))


def encoded(segments: Iterable[str]) -> bytes:
    """The one spelling of that path."""
    return "".join("/" + quote(segment, safe=_SAFE) for segment in segments).encode()


def _decoded(raw: bytes) -> str:
    if _ESCAPE.search(raw):
        raise Malformed("the path has a percent sign that begins no escape")
    try:
        segment = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Malformed("the path is not UTF-8") from None
    if segment in {"", ".", ".."}:
        raise Malformed("the path has an empty segment or one of dots")
    if any(char in "/\\%" or not char.isprintable() for char in segment):
        raise Malformed(
            "the path has a slash, a backslash, a percent sign or a control character in a segment"
        )
    return segment
