"""Shoppers without an account: what names them, and the link by which they follow their order."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final, Protocol

from app.shop.errors import NotFound
from app.shop.orders import Order, Orders

_PREFIX: Final = "guest-"


def new_guest() -> str:
    """A name that nobody can guess; it stands where an account's id does."""
    return _PREFIX + secrets.token_urlsafe(16)


def is_guest(owner: str) -> bool:
    """Whether this names a guest, and no account."""
    return owner.startswith(_PREFIX)


class GuestLinks(Protocol):
    """Signed links: whoever has one may see and cancel that order, and nothing else."""

    def path(self, order_id: str) -> str:
        """Where the order is followed."""

    def order_id(self, token: str) -> str | None:
        """The order of a link that was signed here; None for any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOrder:
    """Show a guest's order to whoever has its link; an account's order is shown to its account alone."""

    orders: Orders
    links: GuestLinks

    async def __call__(self, token: str) -> Order:
        """Raises `NotFound`."""
        order_id = self.links.order_id(token)
        order = None if order_id is None else await self.orders.of_guest(order_id)
        if order is None:
            raise NotFound("order")
        return order
