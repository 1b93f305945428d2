"""Lines and records of a CSV text: where each begins, and none without bound."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

LINE_MOST: Final = 1_000_000
"""Characters of one line; the longest real ones hold one description of some 60,000."""


class Unreadable(Exception):
    """The file cannot be read on: where, what was found and what was expected."""

    def __init__(self, line: int, column: str | None, given: str | None, expected: str) -> None:
        super().__init__(expected)
        self.line = line
        self.column = column
        self.given = given
        self.expected = expected


class Records:
    """The records of a CSV text, each with the line it begins on; raises `Unreadable`.

    Cells are separated by what separates the header most often: a comma, or the semicolon and tab that
    spreadsheets with Vietnamese settings write.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._read = 0
        self._first = text.readline(LINE_MOST + 1)

    def __iter__(self) -> Iterator[tuple[int, Sequence[str]]]:
        delimiter = max(",;\t", key=self._first.count)
        begun = 1
        try:
            for cells in csv.reader(self._lines(), delimiter=delimiter, strict=True):
                yield begun, cells
                begun = self._read + 1
        except csv.Error as broken:
            raise Unreadable(begun, None, None, _expectation(str(broken))) from broken

    def _lines(self) -> Iterator[str]:
        line = self._first
        while line:
            self._read += 1
            if len(line) > LINE_MOST:
                raise Unreadable(self._read, None, None, f"lines of at most {LINE_MOST} characters")
            yield line
            line = self._text.readline(LINE_MOST + 1)


def _expectation(broken: str) -> str:
    if "unexpected end of data" in broken:
        return "a closing quotation mark; a cell opened in this row never ends"
    if "field larger than field limit" in broken:
        return f"cells of at most {csv.field_size_limit()} characters; is a quotation mark left open?"
    return "quotation marks inside a quoted cell to be doubled"
