"""Descriptions: foreign HTML reduced to what a description needs."""

from __future__ import annotations

import html
import unicodedata
from typing import Final

import nh3

from app.shop.importing.refusals import NotAccepted

BODY_MOST: Final = 60_000
"""Characters; the longest real descriptions are size tables of some 20,000."""

_TAGS: Final = frozenset(
    [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "caption",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
    ]
)
_CLEANER: Final = nh3.Cleaner(
    tags=set(_TAGS),
    attributes={"a": {"href", "title"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}},
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel="nofollow noopener noreferrer",
    strip_comments=True,
)
_BARE: Final = nh3.Cleaner(tags=set())


def sanitised(body: str) -> str:
    """The body with nothing left that runs, loads, styles or submits; cleaning it again changes nothing."""
    if len(body) > BODY_MOST:
        raise NotAccepted(f"at most {BODY_MOST} characters of HTML")
    return _settled(unicodedata.normalize("NFC", body).replace("\r\n", "\n").replace("\r", "\n").strip())


def _settled(body: str, tries: int = 5) -> str:
    """What cleaning leaves alone: a parser may read its own output differently once."""
    for _ in range(tries):
        cleaned = _CLEANER.clean(body).strip()
        if cleaned == body:
            return cleaned
        body = cleaned
    raise NotAccepted("HTML that means the same twice")


def plain(body: str) -> str:
    """The words of a body, for search and for previews."""
    spaced = body.replace("<", " <")
    return " ".join(html.unescape(_BARE.clean(spaced)).split())
