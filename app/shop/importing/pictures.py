"""The pictures of one product's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.shop.catalog import Picture
from app.shop.importing import columns
from app.shop.importing.refusals import NotAccepted
from app.shop.importing.rows import Cells, picture_source, text
from app.shop.importing.sheet import Row

ALT_MOST: Final = 512
_LAST: Final = 10**6
"""The position of a picture that has none: after those that have one."""


def read_pictures(cells: Cells, rows: Sequence[Row]) -> tuple[Picture, ...]:
    """Each picture once, by its position and then by its row."""
    placed: dict[str, tuple[int, Picture]] = {}
    for row in rows:
        if row.get(columns.PICTURE).strip():
            source = cells.read(row, columns.PICTURE, picture_source, "")
            position = cells.read(row, columns.PICTURE_POSITION, _position, _LAST)
            alt = cells.read(row, columns.PICTURE_ALT, text(ALT_MOST), "")
            placed.setdefault(source, (position, Picture(source=source, alt=alt)))
    return tuple(picture for _, picture in sorted(placed.values(), key=lambda found: found[0]))


def _position(cell: str) -> int:
    whole = cell.strip().removesuffix(".0")
    if not whole:
        return _LAST
    if not (whole.isascii() and whole.isdigit() and 0 < int(whole[:9]) <= _LAST):
        raise NotAccepted("a place in the row of pictures such as 1")
    return int(whole)
