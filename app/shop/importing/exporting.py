"""Writes a catalogue as the CSV that reads back as the same catalogue."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Final, TextIO

from app.shop.catalog import Picture
from app.shop.importing import columns
from app.shop.importing.cells import harmless
from app.shop.importing.records import ImportedProduct, ImportedVariant

_STATUS: Final = {"visible": "active", "hidden": "active", "draft": "draft", "archived": "archived"}


class CatalogueWriter:
    """Writes one file; `out` is opened with ``newline=""`` and ``utf-8-sig``.

    The mark at its start tells spreadsheets that this is UTF-8; no cell is one that they would run.
    """

    def __init__(self, out: TextIO) -> None:
        self._writer = csv.DictWriter(out, columns.EXPORTED, restval="", lineterminator="\r\n")
        self._writer.writeheader()

    def write(self, product: ImportedProduct) -> None:
        """Add the product's rows."""
        self._writer.writerows({name: harmless(cell) for name, cell in row.items()} for row in _rows(product))


def write_catalogue(products: Iterable[ImportedProduct], out: TextIO) -> int:
    """Write all products and return how many; `out` as a `CatalogueWriter` wants it."""
    writer = CatalogueWriter(out)
    written = 0
    for product in products:
        writer.write(product)
        written += 1
    return written


def _rows(product: ImportedProduct) -> Iterator[Mapping[str, str]]:
    """One row for each variant and picture, side by side; the first one also tells of the product."""
    told = _of_product(product)
    numbered = enumerate(product.pictures, start=1)
    for variant, picture in zip_longest(product.variants, numbered):
        yield {
            columns.HANDLE: product.slug,
            **told,
            **(_of_variant(variant) if variant else {}),
            **(_of_picture(*picture) if picture else {}),
        }
        told = {}


def _of_product(product: ImportedProduct) -> dict[str, str]:
    names = product.options or (columns.DEFAULT_OPTION,)
    return {
        columns.TITLE: product.name,
        columns.BODY: product.body,
        columns.VENDOR: product.vendor,
        columns.TYPE: product.category,
        columns.TAGS: ", ".join(product.tags),
        columns.PUBLISHED: "true" if product.visibility == "visible" else "false",
        columns.STATUS: _STATUS[product.visibility],
        **dict(zip(columns.OPTION_NAMES, names, strict=False)),
    }


def _of_variant(variant: ImportedVariant) -> dict[str, str]:
    values = variant.values or (columns.DEFAULT_VALUE,)
    return {
        columns.SKU: variant.sku,
        columns.TRACKER: "shopify",
        columns.QUANTITY: str(variant.stock),
        columns.POLICY: "continue" if variant.sells_past_zero else "deny",
        columns.PRICE: str(variant.price),
        columns.GRAMS: str(variant.grams),
        **dict(zip(columns.OPTION_VALUES, values, strict=False)),
    }


def _of_picture(position: int, picture: Picture) -> dict[str, str]:
    return {
        columns.PICTURE: picture.source,
        columns.PICTURE_POSITION: str(position),
        columns.PICTURE_ALT: picture.alt,
    }
