"""A shopper's cart: on the session while they are a visitor, in PostgreSQL once they have logged in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from app.sessions import JSON, Session, SessionEnded, StoreUnavailable
from app.shop.cart import CartLines, Offers
from app.shop.catalog import Sku
from app.shop.errors import Unavailable
from app.shop.merging import Merging, room_of
from app.shop.revocations import account_of
from app.stores.cart_copy import CartCopy, copy_in
from app.stores.cart_steps import KeptCart
from app.stores.carts import SqlCarts
from app.stores.session_cart import SessionCart, is_in, lines_in, unavailable, without


class Versions(Protocol):
    """Which version an account's cart is, at most 2 s ago, told without asking the database each time."""

    async def __call__(self, account_ids: Iterable[str], /) -> Mapping[str, int]:
        """By account; those that never wrote a cart are absent."""

    def forget(self, account_ids: Iterable[str]) -> None:
        """Look these up anew when they are asked for next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCarts:
    """What carts of accounts need: where they are kept, how old copies are known, how a guest's comes in."""

    carts: SqlCarts
    versions: Versions
    offers: Offers
    merging: Merging = "sum"

    def __call__(self, session: Session) -> ShopperCart:
        """The cart of that session's shopper."""
        return ShopperCart(session, self)


@dataclass(frozen=True, slots=True)
class ShopperCart:
    """The cart's port for one request. A session that ended meanwhile raises `SessionEnded`.

    An account's cart is what PostgreSQL holds. The session carries a copy, which is shown as long as no
    newer version is known: at once after a write of this session, within 2 s after one of another device.
    What a visitor gathered before the log-in is brought in by whichever request sees it first.
    """

    session: Session
    of: AccountCarts

    async def read(self) -> CartLines:
        """The copy, or the database where there is none, a newer version or a guest's cart to bring in."""
        account_id = await self._account()
        fields = await self._fields()
        if account_id is None:
            return lines_in(fields)
        if is_in(fields) and (guest := lines_in(fields)).quantities:
            return (await self._brought_in(account_id, guest, fields)).lines
        copy = copy_in(fields)
        if copy is not None and not await self._is_behind(account_id, copy):
            return copy.lines
        kept = await self.of.carts.read(account_id)
        kept = _with_left_out(kept, copy)
        with suppress(SessionEnded, StoreUnavailable):
            await CartCopy(self.session, fields).renew(kept)
        return kept.lines

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        """One bounded increment; what is in the database is added, whatever becomes of the copy."""
        account_id = await self._account()
        if account_id is None:
            return await SessionCart(self.session).add(sku, quantity, at_most=at_most, once=once)
        copy = copy_in(await self._joined(account_id))
        kept = await self.of.carts.add(account_id, sku, quantity, at_most=at_most, once=once)
        await self._written(account_id, _with_left_out(kept, copy))
        return kept.lines.quantities.get(sku, 0)

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        """One write."""
        account_id = await self._account()
        if account_id is None:
            await SessionCart(self.session).put(sku, quantity, at_most=at_most)
            return
        await self._joined(account_id)
        await self._written(account_id, await self.of.carts.put(account_id, sku, quantity, at_most=at_most))

    async def settle(self, ordered: CartLines) -> bool:
        """One transaction, which holds only for the cart id that was ordered."""
        account_id = await self._account()
        if account_id is None:
            return await SessionCart(self.session).settle(ordered)
        if ordered.cart_id is None:
            return False
        settled = await self.of.carts.settle(account_id, ordered)
        with suppress(SessionEnded):
            if settled is not None:
                await self._written(account_id, settled)
            elif await self._still_shows(ordered.cart_id):
                await self._written(account_id, await self.of.carts.read(account_id))
        return settled is not None

    async def _still_shows(self, cart_id: str) -> bool:
        """Whether the copy is that filling, as after its order was confirmed: that settles the cart itself."""
        copy = copy_in(await self._fields())
        return copy is not None and copy.lines.cart_id == cart_id

    async def _account(self) -> str | None:
        with unavailable():
            user = await self.session.user()
        return None if user is None else account_of(user)

    async def _fields(self) -> Mapping[str, JSON]:
        with unavailable():
            return await self.session.items("cart")

    async def _is_behind(self, account_id: str, copy: KeptCart) -> bool:
        """Whether a newer version is known; a database that cannot tell leaves the copy standing."""
        try:
            newest = (await self.of.versions((account_id,))).get(account_id, 0)
        except Unavailable:
            return False
        return copy.version < newest

    async def _joined(self, account_id: str) -> Mapping[str, JSON]:
        """The session's fields, after a guest's cart among them was brought in."""
        fields = await self._fields()
        guest = lines_in(fields)
        if not guest.quantities:
            return fields
        await self._brought_in(account_id, guest, fields)
        return await self._fields()

    async def _brought_in(self, account_id: str, guest: CartLines, fields: Mapping[str, JSON]) -> KeptCart:
        """Merge, then take the guest's cart off the session; a crash in between merges nothing twice.

        A cart whose order is under way waits on the session for what becomes of it.
        """
        room = room_of(await self.of.offers(guest.quantities), guest.quantities)
        kept = await self.of.carts.merge(account_id, guest, how=self.of.merging, room=room)
        if kept is None:
            return await self.of.carts.read(account_id)
        with suppress(SessionEnded, StoreUnavailable):
            await CartCopy(self.session, fields).renew(kept, also=without(fields, guest.cart_id or ""))
        return kept

    async def _written(self, account_id: str, kept: KeptCart) -> None:
        """Show this session what it wrote. Where the copy cannot be told, its age is asked for next time."""
        copy = CartCopy(self.session, await self._fields())
        try:
            if not await copy.renew(kept):
                await copy.void()
        except StoreUnavailable:
            self.of.versions.forget((account_id,))


def _with_left_out(kept: KeptCart, copy: KeptCart | None) -> KeptCart:
    """What found no room stays told until the cart is looked through."""
    if copy is None or not copy.lines.left_out:
        return kept
    return replace(kept, lines=replace(kept.lines, left_out=copy.lines.left_out))
