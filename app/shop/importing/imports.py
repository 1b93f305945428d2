"""Bring a file's products into the catalogue: all of them or none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from app.shop.errors import ShopError
from app.shop.importing import columns
from app.shop.importing.files import CatalogueFile, Progress, silent
from app.shop.importing.records import ImportedProduct, ImportSummary, Refusal
from app.shop.importing.refusals import FileRefused
from app.shop.importing.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenSku:
    """A SKU of line `line` that the product `slug`, which the file does not bring, has already."""

    line: int
    sku: str
    slug: str


class SkusTaken(ShopError):
    """Products that the file does not bring have some of its SKUs; nothing changed."""

    def __init__(self, taken: Sequence[TakenSku]) -> None:
        super().__init__(f"{len(taken)} SKUs belong to other products")
        self.taken = taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What an import changed, in products; `changed` ones differ in anything at all."""

    added: int
    changed: int
    unchanged: int


class Imports(Protocol):
    """The store of catalogues. Raises `Unavailable`: nothing happened."""

    async def keep(self, products: Callable[[], Iterable[ImportedProduct]]) -> Kept:
        """Add or replace these products by their slugs, all or none; others stay as they are.

        The same products again change nothing. Whatever `products()` raises undoes everything; it may be
        called again when another writer got in the way. Raises `SkusTaken`.
        """

    def everything(self) -> AsyncIterator[ImportedProduct]:
        """The whole catalogue in the order it was added, also what is not visible.

        Read in parts: a product that changes meanwhile is as it was when its part was read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file brought and what that changed."""

    summary: ImportSummary
    kept: Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCatalogue:
    """Read a file and keep its products."""

    imports: Imports

    async def __call__(
        self, source: BinaryIO, *, name: str, terms: Terms, progress: Progress = silent
    ) -> Imported:
        """What came of it; raises `FileRefused` with every refusal, and then nothing changed."""
        file = CatalogueFile(source, name=name, terms=terms, progress=progress)

        def products() -> Iterable[ImportedProduct]:
            nonlocal file
            file = CatalogueFile(source, name=name, terms=terms, progress=progress)
            return file.accepted()

        try:
            kept = await self.imports.keep(products)
        except SkusTaken as conflict:
            raise FileRefused([_refusal(name, taken) for taken in conflict.taken]) from conflict
        return Imported(summary=file.summary, kept=kept)


def _refusal(name: str, taken: TakenSku) -> Refusal:
    expected = f"a SKU that is free; the product {taken.slug} has it, and this file does not bring that one"
    return Refusal(file=name, line=taken.line, column=columns.SKU, given=taken.sku, expected=expected)
