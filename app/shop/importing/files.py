"""One import file: its products one by one, then what was refused and what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final

from app.shop.importing.columns import HANDLE
from app.shop.importing.products import Products, slug
from app.shop.importing.records import ImportedProduct, ImportSummary, Refusal
from app.shop.importing.refusals import FileRefused, Refusals
from app.shop.importing.rows import Cells
from app.shop.importing.sheet import Row, Sheet
from app.shop.importing.skus import SeenSkus
from app.shop.importing.terms import Terms
from app.shop.importing.variants import Variants

Progress = Callable[[float], None]
"""Told what share of the reading is done, from 0 to 1, now and then."""

_ROWS_PER_WORD: Final = 500
_ORDER_SHARE: Final = 0.3
"""Of the whole reading, what finding each product's last row takes."""


def silent(_: float) -> None:
    """Tells nobody."""


class CatalogueFile:
    """A Shopify product CSV in UTF-8, opened for bytes and seekable; it is read twice and not closed.

    Memory grows by some 200 bytes for each product and each SKU, and by the rows of a product while they
    are apart in the file; never by the size of the file. Of a file with refusals nothing may be kept.
    """

    def __init__(self, source: BinaryIO, *, name: str, terms: Terms, progress: Progress = silent) -> None:
        self._source = source
        self._name = name
        self._terms = terms
        self._progress = progress
        self._refusals = Refusals(name)
        self._variants = Variants(terms=terms, seen=SeenSkus())
        self._sheet = Sheet(source, self._refusals)
        self._products = self._variants_count = self._pictures = self._not_visible = 0

    @property
    def refusals(self) -> Sequence[Refusal]:
        """What was refused so far, in the order of the lines; at most `REFUSALS_MOST`."""
        return self._refusals.in_order()

    @property
    def summary(self) -> ImportSummary:
        """What the products so far amount to."""
        return ImportSummary(
            file=self._name,
            products=self._products,
            variants=self._variants_count,
            pictures=self._pictures,
            not_visible=self._not_visible,
            skus_made_up=self._variants.made_up,
            prices_rounded=self._variants.rounded,
            ignored_columns=self._sheet.ignored,
            currency=self._terms.currency,
            rate=self._terms.rate,
        )

    def products(self) -> Iterator[ImportedProduct]:
        """Each product once its last row is read, passing over refused ones; to be iterated once."""
        products = Products(self._refusals, self._variants)
        for handle, rows in self._grouped():
            if self._refusals.full:
                return
            product = products.assembled(handle, rows)
            if product is not None:
                self._count(product)
                yield product

    def accepted(self) -> Iterator[ImportedProduct]:
        """Every product; raises `FileRefused` at the end when anything at all was refused."""
        yield from self.products()
        if self.refusals:
            raise FileRefused(self.refusals)

    def _count(self, product: ImportedProduct) -> None:
        self._products += 1
        self._variants_count += len(product.variants)
        self._pictures += len(product.pictures)
        self._not_visible += product.visibility != "visible"

    def _grouped(self) -> Iterator[tuple[str, Sequence[Row]]]:
        """The rows of each handle, wherever in the file they stand, when the last of them is read."""
        last_lines = self._last_lines()
        if self._refusals.full:
            return
        waiting: dict[str, list[Row]] = {}
        told_before = Refusals(self._name)
        for row in self._watched(Sheet(self._source, told_before), begin=_ORDER_SHARE):
            handle = _handle(row, told_before)
            if handle is None:
                continue
            waiting.setdefault(handle, []).append(row)
            if last_lines[hash(handle)] == row.line:
                yield handle, waiting.pop(handle)
        yield from waiting.items()

    def _last_lines(self) -> dict[int, int]:
        """The last line of each handle, by its hash: two that share one only wait a little longer."""
        found: dict[int, int] = {}
        for row in self._watched(self._sheet, end=_ORDER_SHARE):
            handle = _handle(row, self._refusals)
            if handle is not None:
                found[hash(handle)] = row.line
        return found

    def _watched(self, sheet: Sheet, *, begin: float = 0, end: float = 1) -> Iterator[Row]:
        size = max(1, self._source.seek(0, 2))
        for number, row in enumerate(sheet.rows()):
            if number % _ROWS_PER_WORD == 0:
                self._progress(begin + (end - begin) * min(1, self._source.tell() / size))
            yield row


def _handle(row: Row, refusals: Refusals) -> str | None:
    cells = Cells(refusals)
    handle = cells.read(row, HANDLE, slug, "")
    return handle if cells.sound else None
