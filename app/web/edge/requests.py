"""Reading a raw ASGI request without building a Request."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""RFC 9110, 9.2.1; everything else may change something."""


def is_unsafe(scope: Scope) -> bool:
    """Whether the request may change something."""
    return scope["method"] not in SAFE_METHODS


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """Every value of a header (lower case), in the order received."""
    return [value for key, value in scope["headers"] if key == name]
