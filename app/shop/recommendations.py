"""What goes with a product, computed from the orders by a service of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Reason = Literal["bought_together", "bestseller"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """A product, by its slug, and why: others bought both, or its shelf sells it most."""

    product: str
    reason: Reason


class Recommendations(Protocol):
    """The service that computes them. Raises `Unavailable`."""

    async def beside(self, product: str, *, most: int) -> Sequence[Recommended]:
        """What goes with the product of that slug, best first; it may name what is no longer sold."""
