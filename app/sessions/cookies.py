"""The session cookie in headers, without the price of a general parser."""

from __future__ import annotations

from collections.abc import Iterator

from .config import SessionConfig


def cookie_values(line: bytes, name: bytes) -> Iterator[bytes]:
    """Every value under the name in a line of cookies, in its order."""
    for pair in line.split(b";"):
        key, _, value = pair.strip().partition(b"=")
        if key == name:
            yield value


def set_cookie(config: SessionConfig, value: str, *, max_age_s: int) -> bytes:
    """The header that gives the cookie, or with an age of 0 takes it away; the attributes never differ."""
    secure = "; Secure" if config.cookie_secure else ""
    expires = "" if max_age_s else "; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
    return (
        f"{config.cookie}={value}; Path=/; Max-Age={max_age_s}{expires}; HttpOnly; SameSite=Lax{secure}"
    ).encode("ascii")
