"""Addresses that an account keeps for its next orders; one of them is the usual one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from app.shop.errors import Invalid, NotFound
from app.shop.phones import checked_phone
from app.shop.text import clean

KEPT_MOST: Final = 20
"""More than anybody sends parcels to; few enough to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a parcel goes, checked: see `checked_place`. `province` is empty where nobody said it."""

    name: str
    phone: str
    address: str
    province: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place that is kept."""

    id: str
    place: Place
    is_default: bool


class Addresses(Protocol):
    """The store of addresses. An account that has any has one default. Raises `Unavailable`."""

    async def of(self, account_id: str) -> Sequence[Address]:
        """The account's addresses: the default one, then the others as they came."""

    async def add(self, account_id: str, place: Place, *, is_default: bool, most: int) -> Address | None:
        """Keep one more; None where there are `most` already."""

    async def change(
        self, account_id: str, address_id: str, place: Place, *, is_default: bool
    ) -> Address | None:
        """Replace one, and make it the default if so wished; None where the account has none of that id."""

    async def remove(self, account_id: str, address_id: str) -> bool:
        """Forget one, and let the oldest be the default instead; False where there was none of that id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAddress:
    """Keep an address, a new one or another one in its place."""

    addresses: Addresses

    async def __call__(
        self, account_id: str, place: Place, *, address_id: str | None = None, is_default: bool = False
    ) -> Address:
        """The address as it is kept; raises `Invalid`, `NotFound`."""
        place = checked_place(place)
        if address_id is not None:
            changed = await self.addresses.change(account_id, address_id, place, is_default=is_default)
            if changed is None:
                raise NotFound("address")
            return changed
        added = await self.addresses.add(account_id, place, is_default=is_default, most=KEPT_MOST)
        if added is None:
            raise Invalid("address", f"at most {KEPT_MOST} addresses are kept", code="addresses_full")
        return added


def checked_place(place: Place) -> Place:
    """The place as it will be kept, or `Invalid`."""
    return Place(
        name=clean("name", place.name, most=100),
        phone=checked_phone("phone", place.phone),
        address=clean("address", place.address, most=300),
        province=clean("province", place.province, most=100, least=0),
    )
