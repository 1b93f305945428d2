"""What changed between the page on which a shopper agreed to a cart and the moment it is ordered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.shop.cart import CartView
from app.shop.catalog import Sku
from app.shop.money import MOST

_SEEN_MOST: Final = 20_000
"""Characters; a full cart of the longest SKUs has half of it, and names would not fit into a form's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLine:
    """A line as it was shown."""

    quantity: int
    unit_price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A line then and now; `before` is None for what was not there, `after` for what is gone.

    What is gone has no name any more but its SKU.
    """

    name: str
    before: SeenLine | None
    after: SeenLine | None


def written(cart: CartView) -> str:
    """The cart as a form carries it, to be compared when it comes back."""
    lines = {line.sku: [line.quantity, line.unit_price] for line in cart.lines}
    return json.dumps(lines, ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> Mapping[Sku, SeenLine]:
    """What a form carried; nothing where it cannot be: then nobody is told of changes."""
    try:
        told = json.loads(text) if len(text) <= _SEEN_MOST else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict) or not all(_is_line(line) for line in told.values()):
        return {}
    return {
        sku: SeenLine(quantity=quantity, unit_price=unit_price)
        for sku, (quantity, unit_price) in told.items()
    }


def changes(seen: Mapping[Sku, SeenLine], cart: CartView) -> Sequence[Change]:
    """Every line that is not as it was shown, in the order of the SKUs."""
    if not seen:
        return []
    names = {line.sku: line.name for line in cart.lines}
    now = {line.sku: SeenLine(quantity=line.quantity, unit_price=line.unit_price) for line in cart.lines}
    return [
        Change(name=names.get(sku, sku), before=seen.get(sku), after=now.get(sku))
        for sku in sorted(seen.keys() | now.keys())
        if _told(seen.get(sku)) != _told(now.get(sku))
    ]


def _told(line: SeenLine | None) -> tuple[int, int] | None:
    return None if line is None else (line.quantity, line.unit_price)


def _is_line(line: object) -> bool:
    match line:
        case [int(quantity), int(price)]:
            return 0 < quantity <= MOST and 0 <= price <= MOST
    return False
