"""Catalogue files in and out: the Shopify product CSV, read as a stream, and written so that it reads back.

Pure: whoever calls opens the file and keeps what it says.
"""

from __future__ import annotations

from app.shop.catalog import Picture
from app.shop.importing.bodies import plain, sanitised
from app.shop.importing.exporting import CatalogueWriter, write_catalogue
from app.shop.importing.files import CatalogueFile, Progress
from app.shop.importing.imports import ImportCatalogue, Imported, Imports, Kept, SkusTaken, TakenSku
from app.shop.importing.records import (
    ImportedProduct,
    ImportedVariant,
    ImportSummary,
    Refusal,
    Visibility,
)
from app.shop.importing.refusals import FileRefused
from app.shop.importing.slugs import path_segment
from app.shop.importing.terms import Terms, checked_terms

__all__ = [
    "CatalogueFile",
    "CatalogueWriter",
    "FileRefused",
    "ImportCatalogue",
    "ImportSummary",
    "Imported",
    "ImportedProduct",
    "ImportedVariant",
    "Imports",
    "Kept",
    "Picture",
    "Progress",
    "Refusal",
    "SkusTaken",
    "TakenSku",
    "Terms",
    "Visibility",
    "checked_terms",
    "path_segment",
    "plain",
    "sanitised",
    "write_catalogue",
]
