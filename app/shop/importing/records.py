"""What an import file says, checked: the same records that an export writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from app.shop.catalog import GRAMS, Picture
from app.shop.money import CURRENCY

Visibility = Literal["visible", "hidden", "draft", "archived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedVariant:
    """One thing to buy: `values` belong to the product's `options` one to one, `price` is in whole đồng.

    `sells_past_zero` means that nobody counts its stock. `line` is where the file says so.
    """

    sku: str
    values: tuple[str, ...]
    price: int
    stock: int
    sells_past_zero: bool = False
    grams: int = GRAMS
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedProduct:
    """One product with its variants (at least one) and pictures, in the order shown; `body` is safe HTML."""

    slug: str
    name: str
    body: str
    category: str
    vendor: str = ""
    tags: tuple[str, ...] = ()
    visibility: Visibility = "visible"
    options: tuple[str, ...] = ()
    variants: tuple[ImportedVariant, ...]
    pictures: tuple[Picture, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing the file may not say: where it stands, what was found and what was expected."""

    file: str
    line: int
    column: str | None
    given: str | None
    expected: str

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        given = "" if self.given is None else f"got {_shortened(self.given)!r}, "
        return f"{self.file}, line {self.line}{column}: {given}expected {self.expected}"


def _shortened(given: str, most: int = 60) -> str:
    return given if len(given) <= most else f"{given[:most]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """What a file brought: counts, the columns that mean nothing here, and how its prices were read."""

    file: str
    products: int
    variants: int
    pictures: int
    not_visible: int
    skus_made_up: int
    prices_rounded: int
    ignored_columns: Sequence[str]
    currency: str = CURRENCY
    rate: Decimal = Decimal(1)
