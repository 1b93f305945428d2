"""The shop's own sample: eight shelves of Vietnamese goods, as an import would bring them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from app.shop.importing import ImportedProduct, ImportedVariant, Picture
from app.shop.vietnamese import slugged

_FOLDER: Final = Path(__file__).parent
_SHELVES: Final = (
    "ca-phe-va-tra",
    "dac-san",
    "quan-ao",
    "phu-kien",
    "gom-va-bep",
    "nha-cua",
    "sach-va-giay",
    "do-choi",
)
PICTURES: Final = "mau"
"""The folder of the sample's pictures among those that the shop ships."""


def sample_products() -> Iterator[ImportedProduct]:
    """Every product of the sample, shelf by shelf."""
    for category, product in _told():
        slug = slugged(product["name"])
        yield ImportedProduct(
            slug=slug,
            name=product["name"],
            body=f"<p>{product['body']}</p>",
            category=category,
            vendor="Chợ Phố",
            options=_options(product),
            variants=tuple(_variants(product)),
            pictures=(Picture(source=f"{PICTURES}/{slug}.svg", alt=f"Hình vẽ {product['name']}"),),
        )


def sample_recipes() -> Mapping[str, str]:
    """How each product's picture is drawn, by its slug."""
    return {slugged(product["name"]): product["draw"] for _, product in _told()}


def _told() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for shelf in _SHELVES:
        told = tomllib.loads((_FOLDER / f"{shelf}.toml").read_text(encoding="utf-8"))
        for product in told["product"]:
            yield told["category"], product


def _options(product: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(product.get("options", [product["option"]] if "option" in product else []))


def _variants(product: Mapping[str, Any]) -> Iterator[ImportedVariant]:
    rows: Sequence[Sequence[Any]] = product["variants"]
    for sku, (*values, price, stock) in zip(_skus(product, len(rows)), rows, strict=True):
        yield ImportedVariant(sku=sku, values=tuple(values), price=price, stock=stock)


def _skus(product: Mapping[str, Any], number: int) -> Sequence[str]:
    """As told one by one, or counted from the product's own."""
    if "skus" in product:
        return tuple(product["skus"])
    own = product["sku"]
    return [own] if number == 1 else [f"{own}-{place}" for place in range(1, number + 1)]
