"""Made-up goods and people in any number: the same seed and number are always the same one."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from app.shop.importing import ImportedProduct, ImportedVariant
from app.shop.orders import Shipping
from app.shop.vietnamese import slugged

_TOLD: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("volume.toml").read_text(encoding="utf-8")
)
_KINDS: Final[Sequence[Mapping[str, Any]]] = _TOLD["kind"]

VENDORS: Final = 200
"""Brands; a shop of a hundred thousand products has a few hundred."""


def made_up_products(number: int, *, seed: int) -> Iterator[ImportedProduct]:
    """So many products, as an import would bring them."""
    for place in range(1, number + 1):
        yield _product(place, seed)


def _product(place: int, seed: int) -> ImportedProduct:
    chance = chance_of(seed, "product", place)
    kind = chance.choice(_KINDS)
    words = _TOLD["words"]
    origin = chance.choice(words["origins"])
    name = f"{chance.choice(kind['names'])} {origin} {chance.choice(words['manners'])} số {place}"
    return ImportedProduct(
        slug=f"{slugged(name)}-m{seed}",
        name=name,
        body=f"<p>{' '.join(chance.sample(words['sentences'], 3))}</p>",
        category=kind["category"],
        vendor=f"{origin} {chance.randrange(VENDORS) + 1}",
        options=(kind["option"],) if "option" in kind else (),
        variants=tuple(_variants(chance, kind, f"M{seed}-{place}")),
    )


def _variants(chance: random.Random, kind: Mapping[str, Any], own: str) -> Iterator[ImportedVariant]:
    price = chance.randrange(*kind["prices"]) * 1000
    for place, value in enumerate(kind.get("values", [None]), start=1):
        yield ImportedVariant(
            sku=own if value is None else f"{own}-{place}",
            values=() if value is None else (value,),
            price=price + (place - 1) * price // 5000 * 1000,
            stock=max(0, chance.randrange(-100, 2000)),  # one of twenty is sold out
        )


def person_of(chance: random.Random) -> str:
    """A name as people here bear it."""
    people = _TOLD["people"]
    return " ".join(chance.choice(people[part]) for part in ("family", "middle", "given"))


def shipping_of(chance: random.Random) -> Shipping:
    """Where a parcel goes."""
    places = _TOLD["places"]
    return Shipping(
        name=person_of(chance),
        phone=f"09{chance.randrange(10**8):08d}",
        address=f"{chance.randrange(1, 400)} {chance.choice(places['streets'])}, {chance.choice(places['cities'])}",
    )


def chance_of(seed: int, what: str, place: int) -> random.Random:
    """Where the `place`-th of those gets its chances from: apart from all others, the same every time."""
    return random.Random(f"{seed} {what} {place}")  # noqa: S311 -- the same goods every time are the point
