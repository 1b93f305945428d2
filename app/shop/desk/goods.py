"""What an owner keeps on the shelves: products and their variants, as the desk shows and changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

from app.shop.catalog import GRAMS, Picture, Sku
from app.shop.desk.audit import Deed
from app.shop.errors import Invalid
from app.shop.importing import Visibility, sanitised
from app.shop.importing.amounts import grams as written_grams
from app.shop.importing.refusals import NotAccepted
from app.shop.money import payable
from app.shop.paging import Page
from app.shop.text import clean

NAME_MOST: Final = 200
LABEL_MOST: Final = 100
TAGS_MOST: Final = 50
OPTIONS_MOST: Final = 3
SKU_BYTES_MOST: Final = 64

Shelf = Literal["all", "visible", "hidden", "sold_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodsRow:
    """A product in the desk's list; `price_from` is None and `stock` 0 where it has no variant."""

    slug: str
    name: str
    category: str
    visibility: Visibility
    variants: int
    price_from: int | None
    stock: int
    picture: Picture | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVariant:
    """A variant as kept; `seen` names this state of what a form of it changes."""

    sku: Sku
    name: str
    values: Sequence[str]
    price: int
    stock: int
    sells_past_zero: bool
    grams: int
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProduct:
    """A product as kept, whether shown to shoppers or not."""

    slug: str
    name: str
    body: str
    category: str
    vendor: str
    tags: Sequence[str]
    visibility: Visibility
    options: Sequence[str]
    variants: Sequence[KeptVariant]
    pictures: Sequence[Picture]
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductDraft:
    """What a form says of a product, checked; `body` is safe HTML."""

    name: str
    body: str
    category: str
    vendor: str
    tags: tuple[str, ...]
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDraft:
    """What a form says of a variant, checked; `values` belong to the product's options one to one."""

    values: tuple[str, ...]
    price: int
    sells_past_zero: bool
    grams: int = GRAMS


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodsQuery:
    """What an owner looks for; `text` as shoppers search."""

    text: str = ""
    shelf: Shelf = "all"
    page: int = 1
    page_size: int = 50


class Goods(Protocol):
    """The store of goods at the desk. Raises `Unavailable`.

    Every change is one transaction with its audit entry, and is carried out once for a form: again it
    raises `AlreadyDone`. Carts and orders keep working whatever is changed or deleted: a cart says that it
    is gone, an order keeps its own names and prices.
    """

    async def page(self, query: GoodsQuery) -> Page[GoodsRow]:
        """What matches, hidden products too; raises `Invalid` for a page that no list has."""

    async def find(self, slug: str) -> KeptProduct | None:
        """The product, or None."""

    async def create(self, draft: ProductDraft, deed: Deed, *, options: Sequence[str]) -> str:
        """Keep a new product without variants; its slug is made of its name and never changes."""

    async def change(self, slug: str, draft: ProductDraft, deed: Deed, *, seen: str) -> None:
        """Replace what the draft says; raises `NotFound`, `ChangedMeanwhile`."""

    async def delete(self, slug: str, deed: Deed, *, seen: str) -> None:
        """Take the product away with its variants; raises `NotFound`, `ChangedMeanwhile`."""

    async def add_variant(self, slug: str, sku: Sku, draft: VariantDraft, deed: Deed) -> None:
        """Add a variant with nothing in stock; raises `NotFound`, `SkuTaken`, `Invalid`."""

    async def change_variant(self, sku: Sku, draft: VariantDraft, deed: Deed, *, seen: str) -> None:
        """Replace what the draft says; raises `NotFound`, `ChangedMeanwhile`, `Invalid`."""

    async def remove_variant(self, sku: Sku, deed: Deed, *, seen: str) -> None:
        """Take one variant away; raises `NotFound`, `ChangedMeanwhile`."""


def checked_product(
    *, name: str, body: str, category: str, vendor: str, tags: str, visibility: str
) -> ProductDraft:
    """The draft, or `Invalid` naming the first field that cannot be; `tags` are parted by commas."""
    return ProductDraft(
        name=clean("name", name, most=NAME_MOST),
        body=_body(body),
        category=clean("category", category, most=LABEL_MOST),
        vendor=clean("vendor", vendor, most=LABEL_MOST, least=0),
        tags=_tags(tags),
        visibility=_visibility(visibility),
    )


def checked_options(text: str) -> tuple[str, ...]:
    """Names of options parted by commas, such as ``Cỡ, Màu``; raises `Invalid`."""
    names = _parted("options", text)
    if len(names) > OPTIONS_MOST:
        raise Invalid("options", f"at most {OPTIONS_MOST} options", code="options_invalid")
    return names


def checked_variant(
    *, values: Sequence[str], price: int, sells_past_zero: bool, grams: str = ""
) -> VariantDraft:
    """The draft, or `Invalid`; whether the values fit the product's options, its store sees.

    `grams` is what was typed; nothing means what an import without them means.
    """
    if price < 0:
        raise Invalid("price", "must not be negative", code="price_invalid")
    return VariantDraft(
        values=tuple(
            clean(f"value-{at}", value, most=LABEL_MOST) for at, value in enumerate(values, start=1)
        ),
        price=payable("price", price),
        sells_past_zero=sells_past_zero,
        grams=_grams(grams.strip()),
    )


def checked_sku(text: str) -> Sku:
    """The SKU as it will be kept, or `Invalid`; a session keeps it as the name of a field."""
    sku = clean("sku", text, most=SKU_BYTES_MOST)
    if len(sku.encode()) > SKU_BYTES_MOST:
        raise Invalid("sku", f"at most {SKU_BYTES_MOST} bytes", code="too_long")
    return sku


def changed(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Of two states, what differs."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {name: before.get(name) for name in names}, {name: after.get(name) for name in names}


def _grams(text: str) -> int:
    try:
        return written_grams(text) if text else GRAMS
    except NotAccepted as unusable:
        raise Invalid("grams", f"must be {unusable}", code="grams_invalid") from unusable


def _body(text: str) -> str:
    try:
        return sanitised(text)
    except NotAccepted as unusable:
        raise Invalid("body", f"must be {unusable}", code="too_long") from unusable


def _tags(text: str) -> tuple[str, ...]:
    tags = _parted("tags", text)
    if len(tags) > TAGS_MOST:
        raise Invalid("tags", f"at most {TAGS_MOST} tags", code="too_long")
    return tags


def _parted(field: str, text: str) -> tuple[str, ...]:
    parts = (clean(field, part, most=LABEL_MOST, least=0) for part in text.split(",")[:200])
    return tuple(dict.fromkeys(part for part in parts if part))


def _visibility(text: str) -> Visibility:
    for known in get_args(Visibility):
        if text == known:
            chosen: Visibility = known
            return chosen
    raise Invalid("visibility", f"must be one of {', '.join(get_args(Visibility))}", code="invalid")
