"""A CSV file as rows of named cells, read from front to back in bounded memory."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from app.shop.importing.columns import READ, REQUIRED
from app.shop.importing.lines import Records, Unreadable
from app.shop.importing.refusals import Refusals

_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOT_TEXT: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f\udc80-\udcff]")
"""What no page may show, and bytes that were not UTF-8 (they arrive as lone surrogates)."""

_UTF8_WANTED: Final = "a file saved as CSV UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: the cells that are not empty and mean something, by column; `line` is where it begins."""

    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str:
        """The cell, empty when it is blank or its column is absent."""
        return self.cells.get(column, "")


class Sheet:
    """The rows of one file; a broken row is refused and passed over, a broken file is refused and left."""

    def __init__(self, source: BinaryIO, refusals: Refusals) -> None:
        self._source = source
        self._refusals = refusals
        self._header: Sequence[str] = ()
        self._columns: Sequence[tuple[int, str]] = ()

    @property
    def ignored(self) -> Sequence[str]:
        """Columns of the file that mean nothing here, once its header was read."""
        return [name for name in self._header if name not in READ]

    def rows(self) -> Iterator[Row]:
        """Every row that has a cell; begins anew each time."""
        self._source.seek(0)
        mark = self._source.read(2)
        self._source.seek(0)
        text = io.TextIOWrapper(self._source, "utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield from self._rows(mark, Records(text))
        except Unreadable as broken:
            self._refusals.refuse(broken.line, broken.column, broken.given, broken.expected)
        finally:
            text.detach()

    def _rows(self, mark: bytes, records: Records) -> Iterator[Row]:
        if mark in _UTF16:
            raise Unreadable(1, None, "UTF-16", _UTF8_WANTED)
        filled = ((line, cells) for line, cells in records if any(cells))
        line, header = next(filled, (1, []))
        if not self._is_text(line, header) or not self._is_header(line, header):
            return
        for line, cells in filled:
            if self._refusals.full:
                return
            if self._is_text(line, cells) and self._is_complete(line, cells):
                named = {name: cells[index] for index, name in self._columns if cells[index]}
                yield Row(line=line, cells=named)

    def _is_header(self, line: int, cells: Sequence[str]) -> bool:
        """Take the header, unless required columns are missing or one that is read stands there twice."""
        names = [cell.strip() for cell in cells]
        missing = [name for name in REQUIRED if name not in names]
        doubled = sorted({name for name in names if name in READ and names.count(name) > 1})
        for name in missing:
            self._refusals.refuse(line, name, None, "a column of this name, but the header has none")
        for name in doubled:
            self._refusals.refuse(line, name, None, "one column of this name, but the header has more")
        self._header = names
        self._columns = [(index, name) for index, name in enumerate(names) if name in READ]
        return not missing and not doubled

    def _is_complete(self, line: int, cells: Sequence[str]) -> bool:
        wanted = len(self._header)
        if len(cells) != wanted:
            self._refusals.refuse(line, None, f"{len(cells)} cells", f"{wanted} cells, as in the header")
        return len(cells) == wanted

    def _is_text(self, line: int, cells: Sequence[str]) -> bool:
        if not _NOT_TEXT.search("".join(cells)):
            return True
        index, found = next(
            (i, match[0]) for i, cell in enumerate(cells) if (match := _NOT_TEXT.search(cell))
        )
        column = self._header[index] if index < len(self._header) else f"number {index + 1}"
        if "\udc80" <= found <= "\udcff":
            looks = f"{_UTF8_WANTED}; this one looks like Windows-1258 or Windows-1252"
            raise Unreadable(line, column, f"byte 0x{ord(found) - 0xDC00:02X}", looks)
        if found == "\0" and sum(cell.count("\0") for cell in cells) * 3 > sum(map(len, cells)):
            raise Unreadable(line, None, "UTF-16", _UTF8_WANTED)
        self._refusals.refuse(line, column, f"control character 0x{ord(found):02X}", "text")
        return False
