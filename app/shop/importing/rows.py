"""Cells of one product's rows, parsed one by one; what cannot be used is refused by line and column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import urlsplit

from app.shop.importing.cells import one_line, restored
from app.shop.importing.refusals import NotAccepted, Refusals
from app.shop.importing.sheet import Row

T = TypeVar("T")

_SHIPPED: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(?:/[a-z0-9][a-z0-9_-]*)*\.(?:svg|png|jpe?g|webp|avif)")
_ADDRESS_MOST: Final = 2048


class Cells:
    """Reads cells of rows; `sound` turns False at the first refusal."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self.sound = True

    def refuse(self, line: int, column: str, given: str | None, expected: str) -> None:
        """Note a refusal of this product."""
        self.sound = False
        self._refusals.refuse(line, column, given, expected)

    def read(self, row: Row, column: str, parse: Callable[[str], T], fallback: T) -> T:
        """The parsed cell; a refused one is noted and becomes the fallback."""
        cell = restored(row.get(column))
        try:
            return parse(cell)
        except NotAccepted as refused:
            self.refuse(row.line, column, cell, str(refused))
            return fallback


def text(most: int, *, least: int = 0) -> Callable[[str], str]:
    """A parser of one line of text with a bounded length."""

    def parsed(cell: str) -> str:
        line = one_line(cell)
        if not least <= len(line) <= most:
            raise NotAccepted(f"{least} to {most} characters" if least else f"at most {most} characters")
        return line

    return parsed


def choice(**meanings: T) -> Callable[[str], T]:
    """A parser of one of a few words, whatever their case; `blank` is what an empty cell means."""
    words = ", ".join(sorted(word for word in meanings if word != "blank"))

    def parsed(cell: str) -> T:
        meaning = meanings.get(one_line(cell).casefold() or "blank")
        if meaning is None:
            raise NotAccepted(f"one of {words}")
        return meaning

    return parsed


def picture_source(cell: str) -> str:
    """A web address or the path of a shipped picture; it is kept, never fetched."""
    source = one_line(cell)
    if len(source) > _ADDRESS_MOST:
        raise NotAccepted(f"an address of at most {_ADDRESS_MOST} characters")
    if _SHIPPED.fullmatch(source) or _is_web_address(source):
        return source
    raise NotAccepted("a picture's address such as https://shop.example/ao.jpg")


def _is_web_address(source: str) -> bool:
    try:
        parts = urlsplit(source)
    except ValueError:
        return False
    return (
        parts.scheme in {"http", "https"} and bool(parts.hostname) and not set(source) & set(" \"'<>\\^`{|}")
    )
