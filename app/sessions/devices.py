"""A short name for a browser, so that its owner recognises it in a list."""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import Scope

LONGEST: Final = 64
"""A longer field would cost Redis' compact encoding of the whole session."""

# The more specific name first: every browser claims to be several others.
_BROWSERS: Final = (
    ("coc_coc", "Cốc Cốc"),
    ("zalo", "Zalo"),
    ("fban", "Facebook"),
    ("fbav", "Facebook"),
    ("edg", "Edge"),
    ("opr/", "Opera"),
    ("samsungbrowser", "Samsung Internet"),
    ("firefox", "Firefox"),
    ("fxios", "Firefox"),
    ("crios", "Chrome"),
    ("chrome", "Chrome"),
    ("safari", "Safari"),
)
_SYSTEMS: Final = (
    ("android", "Android"),
    ("iphone", "iPhone"),
    ("ipad", "iPad"),
    ("windows", "Windows"),
    ("mac os", "macOS"),
    ("cros", "ChromeOS"),
    ("linux", "Linux"),
)


def client_of(scope: Scope) -> tuple[str, str]:
    """The device's name and the address a request came from."""
    client = scope.get("client")
    agent = HTTPConnection(scope).headers.get("user-agent", "")
    return device_name(agent), clipped(client[0]) if client else ""


def device_name(user_agent: str) -> str:
    """Browser and system, or the first word of an unknown agent; at most 64 bytes of UTF-8."""
    agent = user_agent.lower()
    found = [next((name for mark, name in marks if mark in agent), "") for marks in (_BROWSERS, _SYSTEMS)]
    named = " · ".join(part for part in found if part) or user_agent.partition("/")[0].strip()
    return clipped("".join(letter for letter in named if letter.isprintable()))


def clipped(text: str) -> str:
    """At most 64 bytes of it, whole letters only."""
    return text.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")
