"""What the shop knows of a person: handed out to them, and forgotten when they wish it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from app.shop.accounts import Account, Accounts
from app.shop.addresses import Address, Addresses
from app.shop.errors import NotFound
from app.shop.orders import Order, OrderQuery, Orders, OrderStatus
from app.shop.paging import PAGE_SIZE_MOST
from app.shop.revocations import Ends, Revocations, keep_promise

ORDERS_MOST: Final = 10_000
"""Handed out at once, the newest; whoever has more is a business."""

UNDER_WAY: Final[frozenset[OrderStatus]] = frozenset(
    {"placing", "awaiting_payment", "confirmed", "packed", "shipped"}
)
"""The shop still needs to know where the parcel goes, and who pays."""


class Erasure(Protocol):
    """The store of what is forgotten. Raises `Unavailable`."""

    async def erase(self, account_id: str) -> int | None:
        """Forget the person, and keep the orders for the books without them.

        Promises in the same transaction that the sessions end and that the old address is told. The id of the
        promise; None where there is no such account. Raises `LastOwner`, `OrdersUnderWay`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalData:
    """All that the shop's own tables say of an account."""

    account: Account
    addresses: Sequence[Address]
    orders: Sequence[Order]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportData:
    """Hand out what the shop knows of an account."""

    accounts: Accounts
    addresses: Addresses
    orders: Orders

    async def __call__(self, account_id: str) -> PersonalData:
        """Raises `NotFound`."""
        account = await self.accounts.by_id(account_id)
        if account is None:
            raise NotFound("account")
        return PersonalData(
            account=account,
            addresses=await self.addresses.of(account_id),
            orders=await self._orders(account_id),
        )

    async def _orders(self, account_id: str) -> Sequence[Order]:
        found: list[Order] = []
        for number in range(1, ORDERS_MOST // PAGE_SIZE_MOST + 1):
            page = await self.orders.page(account_id, OrderQuery(page=number, page_size=PAGE_SIZE_MOST))
            found += page.items
            if len(page.items) < PAGE_SIZE_MOST:
                break
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseData:
    """Forget a person for good; every session of theirs ends."""

    erasure: Erasure
    revocations: Revocations
    ends: Ends

    async def __call__(self, account_id: str) -> None:
        """Raises `NotFound`, `LastOwner`, `OrdersUnderWay`; `SessionsLinger`: it is done, sessions end later."""
        promised = await self.erasure.erase(account_id)
        if promised is None:
            raise NotFound("account")
        await keep_promise(self.revocations, promised, self.ends.of(account_id))
