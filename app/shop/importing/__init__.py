"""Catalogue files in and out: the Shopify product CSV, read as a stream, and written so that it reads back.

Pure: whoever calls opens the file and keeps what it says.
"""

from __future__ import annotations

from app.shop.importing.bodies import plain, sanitised
from app.shop.importing.exporting import write_catalogue
from app.shop.importing.files import CatalogueFile, Progress
from app.shop.importing.records import (
    ImportedProduct,
    ImportedVariant,
    ImportSummary,
    Picture,
    Refusal,
    Visibility,
)
from app.shop.importing.terms import Terms, checked_terms

__all__ = [
    "CatalogueFile",
    "ImportSummary",
    "ImportedProduct",
    "ImportedVariant",
    "Picture",
    "Progress",
    "Refusal",
    "Terms",
    "Visibility",
    "checked_terms",
    "plain",
    "sanitised",
    "write_catalogue",
]
