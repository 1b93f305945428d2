"""Taking out of a text what a log must not hold: secrets, tokens, query strings, e-mails, phone numbers.

What we log ourselves are named fields that hold none of these. This is for the words of others: messages
and tracebacks of libraries, which quote the URL, the row or the header that they stumbled over.
"""

from __future__ import annotations

import re
from typing import Final

GONE: Final = "[removed]"

_NAMES: Final = (
    r"password|passwd|pwd|passphrase|mat_?khau|secret|token|credential|api_?key|private_?key|jwt|"
    r"signature|csrf|nonce|session_?id"
)
# Each pattern begins only where its kind of word begins and takes words whole (`++`), so that the work grows
# with the text and no faster, whoever wrote the text.
_RULES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b((?:set-)?cookie|(?:proxy-)?authorization)(['\"]?\s{0,3}[:=,]\s{0,3})[^\r\n]+", rf"\1\2{GONE}"),
        (r"://[^\s/?#]*@", f"://{GONE}@"),
        (r"(?<=[\w/.~%)-])\?[^\s?'\"<>]+", f"?{GONE}"),
        (r"\b(bearer|basic)\s{1,3}[\w.~+/=-]+", rf"\1 {GONE}"),
        (
            rf"(?<![\w-])(?=[\w-]*?(?:{_NAMES}))([\w-]++)(['\"]?\s{{0,3}}[:=]\s{{0,3}})(\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s,;&'\"]+)",
            rf"\1\2{GONE}",
        ),
        (r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)*", GONE),
        (r"(?<![\w.+-])(?:\+\d|00\d|0\d|84)\d{0,3}(?:[ .()-]{0,2}\d){7,13}(?!\w)", GONE),
        (r"(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*", GONE),
        (r"(?a:(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{40,})", GONE),
    )
)
_MARGIN: Final = 512
"""What lies across the limit is recognised as a whole before the text is cut."""


def scrub(text: str, *, limit: int = 2000) -> str:
    """The text without what must not be told, and no longer than `limit` characters."""
    seen = text[: limit + _MARGIN]
    for pattern, replacement in _RULES:
        seen = pattern.sub(replacement, seen)
    return seen if len(text) <= limit and len(seen) <= limit else seen[:limit] + " [cut]"
