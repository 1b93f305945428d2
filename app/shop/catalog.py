"""Products, their variants, and what a cart needs to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from app.shop.paging import Page

Sku = str

UNCOUNTED: Final = 10**6
"""The stock shown of what sells without being counted."""

GRAMS: Final = 500
"""What a thing weighs of which nobody has said it."""

Sort = Literal["best", "name", "cheapest", "dearest", "newest"]
"""How a list is sorted; `best` is by how well the search matches, and without a search the shop's own order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture; `source` is a web address (never fetched) or the path of a picture that the shop ships."""

    source: str
    alt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One thing that can be bought: price in whole đồng, stock in units, options such as ``{"Cỡ": "M"}``."""

    sku: Sku
    name: str
    price: int
    stock: int
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A product page's content; it has at least one variant.

    `description` is plain text, `body` the same as safe HTML (empty where there is only text).
    """

    slug: str
    name: str
    description: str
    category: str
    variants: Sequence[Variant]
    body: str = ""
    category_slug: str = ""
    vendor: str = ""
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSummary:
    """A product in a list; `price` is its cheapest variant's, in whole đồng."""

    slug: str
    name: str
    category: str
    price: int
    in_stock: bool
    picture: Picture | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A shelf of the shop."""

    slug: str
    name: str
    products: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a cart line shows: the full name (product and variant), price now, units left, weight of one."""

    sku: Sku
    slug: str
    name: str
    price: int
    stock: int
    picture: Picture | None = None
    grams: int = GRAMS


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductQuery:
    """What a shopper asks of the catalogue; `text` is matched literally, without regard to case or marks.

    The last word of `text` is a beginning. Prices are in whole đồng, both included.
    """

    text: str = ""
    category: str | None = None
    price_least: int | None = None
    price_most: int | None = None
    in_stock: bool = False
    sort: Sort = "best"
    page: int = 1
    page_size: int = 24


class Catalog(Protocol):
    """The catalogue's store. Raises `Unavailable`. What no database could hold is not found."""

    async def page(self, query: ProductQuery) -> Page[ProductSummary]:
        """The visible products that match, best first; raises `Invalid` for a page that no list has."""

    async def categories(self) -> Sequence[Category]:
        """Every category with a visible product, in the Vietnamese order of its name."""

    async def product(self, slug: str) -> Product | None:
        """The visible product of that slug, or None."""

    async def offers(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        """The offers of those SKUs that exist and are visible; others are absent."""

    async def summaries(self, slugs: Sequence[str]) -> Sequence[ProductSummary]:
        """The visible products of those slugs, in their order; others are left out."""
