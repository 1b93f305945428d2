"""The columns of a Shopify product CSV that mean something here."""

from __future__ import annotations

from typing import Final

HANDLE: Final = "Handle"
TITLE: Final = "Title"
BODY: Final = "Body (HTML)"
VENDOR: Final = "Vendor"
PRODUCT_CATEGORY: Final = "Product Category"
TYPE: Final = "Type"
TAGS: Final = "Tags"
PUBLISHED: Final = "Published"
OPTION_NAMES: Final = ("Option1 Name", "Option2 Name", "Option3 Name")
OPTION_VALUES: Final = ("Option1 Value", "Option2 Value", "Option3 Value")
SKU: Final = "Variant SKU"
TRACKER: Final = "Variant Inventory Tracker"
QUANTITY: Final = "Variant Inventory Qty"
POLICY: Final = "Variant Inventory Policy"
PRICE: Final = "Variant Price"
GRAMS: Final = "Variant Grams"
PICTURE: Final = "Image Src"
PICTURE_POSITION: Final = "Image Position"
PICTURE_ALT: Final = "Image Alt Text"
STATUS: Final = "Status"

REQUIRED: Final = (HANDLE, TITLE, PRICE)
"""Without these there is nothing to sell."""

EXPORTED: Final = (
    HANDLE,
    TITLE,
    BODY,
    VENDOR,
    TYPE,
    TAGS,
    PUBLISHED,
    *(column for pair in zip(OPTION_NAMES, OPTION_VALUES, strict=True) for column in pair),
    SKU,
    TRACKER,
    QUANTITY,
    POLICY,
    PRICE,
    GRAMS,
    PICTURE,
    PICTURE_POSITION,
    PICTURE_ALT,
    STATUS,
)

READ: Final = frozenset({*EXPORTED, PRODUCT_CATEGORY})

DEFAULT_OPTION: Final = "Title"
DEFAULT_VALUE: Final = "Default Title"
"""How the file says that a product has no options."""
