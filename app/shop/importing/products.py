"""From the rows of one handle to one product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from app.shop.importing import columns
from app.shop.importing.bodies import sanitised
from app.shop.importing.cells import one_line, restored
from app.shop.importing.pictures import read_pictures
from app.shop.importing.records import ImportedProduct, Visibility
from app.shop.importing.refusals import NotAccepted, Refusals
from app.shop.importing.rows import Cells, choice, text
from app.shop.importing.sheet import Row
from app.shop.importing.slugs import path_segment
from app.shop.importing.variants import Variants

NAME_MOST: Final = 255
SLUG_MOST: Final = 200
CATEGORY_MOST: Final = 100
TAGS_MOST: Final = 100
"""Of one product; real ones have a dozen."""

ROWS_MOST: Final = 2_500
"""Rows of one product: more variants and pictures than any page can show."""

UNSORTED: Final = "Khác"
"""The category of products whose file names none."""

_PUBLISHED: Final = choice(true=True, false=False, yes=True, no=False, blank=True)
_STATUS: Final[Callable[[str], Visibility]] = choice(
    active="visible", draft="draft", archived="archived", blank="visible"
)


def slug(cell: str) -> str:
    """The handle as a path segment."""
    if not any(map(str.isalnum, cell)) or len(found := path_segment(cell)) > SLUG_MOST:
        raise NotAccepted(f"a handle of letters and digits that fits into {SLUG_MOST} characters")
    return found


class Products:
    """Assembles products; `variants` remembers the SKUs of the whole file."""

    def __init__(self, refusals: Refusals, variants: Variants) -> None:
        self._refusals = refusals
        self._variants = variants

    def assembled(self, handle: str, rows: Sequence[Row]) -> ImportedProduct | None:
        """The product of these rows, or None when something in them was refused."""
        cells = Cells(self._refusals)
        first = rows[0]
        if len(rows) > ROWS_MOST:
            cells.refuse(rows[ROWS_MOST].line, columns.HANDLE, handle, f"at most {ROWS_MOST} rows a product")
            return None
        said = partial(_said_once, cells, rows)
        options, variants = self._variants.read(cells, handle, rows)
        product = ImportedProduct(
            line=first.line,
            slug=handle,
            name=cells.read(said(columns.TITLE), columns.TITLE, text(NAME_MOST, least=1), ""),
            body=cells.read(said(columns.BODY), columns.BODY, sanitised, ""),
            category=_category(cells, said(columns.TYPE), first),
            vendor=cells.read(said(columns.VENDOR), columns.VENDOR, text(NAME_MOST), ""),
            tags=cells.read(said(columns.TAGS), columns.TAGS, _tags, ()),
            visibility=_visibility(cells, said(columns.PUBLISHED), said(columns.STATUS)),
            options=options,
            variants=variants,
            pictures=read_pictures(cells, rows),
        )
        return product if cells.sound else None


def _said_once(cells: Cells, rows: Sequence[Row], column: str) -> Row:
    """The first row that fills this column of the product; another row that says otherwise is refused."""
    saying = [row for row in rows if row.get(column)]
    for row in saying[1:]:
        if one_line(row.get(column)) != one_line(saying[0].get(column)):
            earlier = f"the same as in line {saying[0].line}, since both rows are one product"
            cells.refuse(row.line, column, row.get(column), earlier)
    return saying[0] if saying else rows[0]


def _category(cells: Cells, typed: Row, first: Row) -> str:
    """The file's type, else the last part of its Shopify category, else its first tag."""
    if typed.get(columns.TYPE).strip():
        return cells.read(typed, columns.TYPE, text(CATEGORY_MOST, least=1), "")
    part = restored(first.get(columns.PRODUCT_CATEGORY)).rpartition(">")[2]
    tag = next(iter(_split(restored(first.get(columns.TAGS)))), "")
    return (one_line(part) or tag or UNSORTED)[:CATEGORY_MOST].strip()


def _visibility(cells: Cells, published: Row, status: Row) -> Visibility:
    kept: Visibility = cells.read(status, columns.STATUS, _STATUS, "visible")
    shown = cells.read(published, columns.PUBLISHED, _PUBLISHED, fallback=True)
    return "hidden" if kept == "visible" and not shown else kept


def _tags(cell: str) -> tuple[str, ...]:
    tags = _split(cell)
    if len(tags) > TAGS_MOST or any(len(tag) > NAME_MOST for tag in tags):
        raise NotAccepted(f"at most {TAGS_MOST} tags of at most {NAME_MOST} characters")
    return tags


def _split(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for part in cell.split(",") if (tag := one_line(part))))
