"""The cart on the session: a field for each line, so that two requests never overwrite each other."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from app.sessions import JSON, Changes, Refused, Session, SessionEnded, Step, StoreUnavailable
from app.shop.cart import LINES_LIMIT, CartLines
from app.shop.catalog import Sku
from app.shop.errors import CartLimit, KeyReused, Unavailable

_LINE: Final = "cart:"
_ID: Final = "cart-id"
_SETTLED: Final = "cart-settled"
_ONCE: Final = "cart+"
_TOLD: Final = 2**16

_ONCE_MOST: Final = 8
"""Adds that a session remembers: browsers send again at once, people after a look; each costs some 27 bytes."""


def lines_in(fields: Mapping[str, JSON]) -> CartLines:
    """The cart that a session's fields hold."""
    cart_id, settled = fields.get(_ID), fields.get(_SETTLED)
    return CartLines(
        cart_id=cart_id if isinstance(cart_id, str) else None,
        settled_id=settled if isinstance(settled, str) else None,
        quantities=quantities_in(fields, _LINE),
    )


def is_in(fields: Mapping[str, JSON]) -> bool:
    """Whether a visitor's cart was ever filled in that session; its id comes with its first line."""
    return _ID in fields


def quantities_in(fields: Mapping[str, JSON], prefix: str) -> dict[Sku, int]:
    """The units by SKU in the fields with that prefix."""
    return {
        name.removeprefix(prefix): quantity
        for name, quantity in fields.items()
        if name.startswith(prefix) and isinstance(quantity, int) and quantity > 0
    }


def without(fields: Mapping[str, JSON], cart_id: str) -> Changes:
    """What takes that cart, and all that belongs to it, out of a session that still has it."""
    own = frozenset(name for name in fields if name.startswith((_LINE, _ONCE)))
    return Changes(expect={_ID: encoded(cart_id)}, drop=own | {_ID, _SETTLED})


@dataclass(frozen=True, slots=True)
class SessionCart:
    """A visitor's cart, on one request's session. A session that ended meanwhile raises `SessionEnded`.

    The limit of lines is checked before the line is added: requests at the same moment may pass it by
    their number, and the session's own limit of fields is the end of it.
    """

    session: Session
    clock: Callable[[], float] = time.time

    async def read(self) -> CartLines:
        """One look at the session, which is loaded once for a request."""
        with unavailable():
            return lines_in(await self.session.items("cart"))

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        """One bounded increment; the first one of a visitor makes the session and the cart's id."""
        line = _LINE + sku
        mark = None if once is None else _ONCE + _digest(once)
        marks = await self._marks()
        told = _digest_number(f"{sku} {quantity}")
        if mark is not None and marks.get(mark, told) % _TOLD != told:
            raise KeyReused("this idempotency key belongs to another request")
        if mark not in marks:
            await self._has_room(sku)
            changes = _remembering(mark, marks, int(self.clock()) * _TOLD + told)
            changes = replace(changes, add={line: Step(by=quantity, high=at_most)}, default=_fresh_id())
            try:
                return (await self._change(sku, at_most, changes))[line]
            except Refused:
                with unavailable():
                    await self.session.reload()
        return (await self.read()).quantities.get(sku, 0)

    async def _marks(self) -> Mapping[str, int]:
        """The adds that were marked as one: when, in seconds, and what was told, in one number."""
        with unavailable():
            marks = await self.session.items(_ONCE)
        return {name: at for name, at in marks.items() if isinstance(at, int)}

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        """One write; removing what is not there does nothing."""
        line = _LINE + sku
        if quantity == 0:
            if sku in (await self.read()).quantities:
                await self._change(sku, 0, Changes(drop=frozenset({line})))
            return
        if quantity > at_most:
            raise CartLimit(sku, at_most=at_most)
        await self._has_room(sku)
        await self._change(sku, at_most, Changes(put={line: b"%d" % quantity}, default=_fresh_id()))

    async def settle(self, ordered: CartLines) -> bool:
        """One change that holds only for the cart id that was ordered, and puts a fresh one in its place."""
        if ordered.cart_id is None:
            return False
        changes = Changes(
            expect={_ID: encoded(ordered.cart_id)},
            put={**_fresh_id(), _SETTLED: encoded(ordered.cart_id)},
            add={
                _LINE + sku: Step(by=-quantity, low=0, clamp=True, drop_zero=True)
                for sku, quantity in ordered.quantities.items()
            },
        )
        try:
            with unavailable():
                await self.session.change(changes)
        except (Refused, SessionEnded):  # settled before, or gone together with its session
            return False
        return True

    async def _has_room(self, sku: Sku) -> None:
        lines = (await self.read()).quantities
        if sku not in lines and len(lines) >= LINES_LIMIT:
            raise CartLimit(sku, at_most=0)

    async def _change(self, sku: Sku, at_most: int, changes: Changes) -> dict[str, int]:
        try:
            with unavailable():
                return dict(await self.session.change(changes))
        except Refused as refused:
            if refused.field in changes.expect:
                raise
            raise CartLimit(sku, at_most=at_most if refused.field == _LINE + sku else 0) from refused


def _remembering(mark: str | None, marks: Mapping[str, int], number: int) -> Changes:
    """Mark an add as done, only if nobody else does; the oldest marks go."""
    if mark is None:
        return Changes()
    newest_first = sorted(marks, key=lambda name: marks[name], reverse=True)
    return Changes(
        expect={mark: None}, put={mark: b"%d" % number}, drop=frozenset(newest_first[_ONCE_MOST - 1 :])
    )


def _digest(once: str) -> str:
    """Eight characters tell eight adds apart."""
    return base64.urlsafe_b64encode(hashlib.sha256(once.encode()).digest()[:6]).decode()


def _digest_number(told: str) -> int:
    """What was asked under a key, as short as tells a mistake."""
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:2], "big")


def _fresh_id() -> dict[str, bytes]:
    return {_ID: encoded(secrets.token_urlsafe(16))}


def encoded(text: str) -> bytes:
    """As the session encodes the values that `get` decodes."""
    return json.dumps(text).encode()


@contextmanager
def unavailable() -> Iterator[None]:
    """A session store that is away, said as the shop says it."""
    try:
        yield
    except StoreUnavailable as away:
        raise Unavailable("the cart") from away
