"""A copy of an account's cart on the session, so that reading the cart asks no database.

The field `cart-kept` tells which version the copied lines are. A copy takes the place of the one that its
writer saw, and no other: so an older copy never replaces a newer one. Whoever wrote the cart and could not
replace the copy makes it void, by a mark that is like no other.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from app.sessions import JSON, Changes, Refused, Session
from app.shop.cart import CartLines
from app.stores.cart_steps import KeptCart
from app.stores.session_cart import encoded, quantities_in

_KEPT: Final = "cart-kept"
_LINE: Final = "cart="
_LEFT_OUT: Final = "cart-left-out"
_VOID: Final = "void "

NOTHING: Final = Changes()


def copy_in(fields: Mapping[str, JSON]) -> KeptCart | None:
    """The copy that a session's fields hold, or None."""
    match str(fields.get(_KEPT, _VOID)).split(" "):
        case [version, cart_id, settled_id] if version.isdigit():
            left_out = fields.get(_LEFT_OUT)
            lines = CartLines(
                cart_id=cart_id or None,
                settled_id=settled_id or None,
                quantities=quantities_in(fields, _LINE),
                left_out=_units(left_out) if isinstance(left_out, dict) else {},
            )
            return KeptCart(version=int(version), lines=lines)
    return None


def _units(told: Mapping[str, JSON]) -> Mapping[str, int]:
    return {sku: units for sku, units in told.items() if isinstance(units, int)}


@dataclass(frozen=True, slots=True)
class CartCopy:
    """The copy on one request's session; `fields` are those of the cart as the request saw them."""

    session: Session
    fields: Mapping[str, JSON]

    async def renew(self, kept: KeptCart, *, also: Changes = NOTHING) -> bool:
        """Put this copy in the place of the one that was seen, and change `also` with it; False: not done."""
        lines = {_LINE + sku: quantity for sku, quantity in kept.lines.quantities.items()}
        put = {name: b"%d" % units for name, units in lines.items() if self.fields.get(name) != units}
        put[_KEPT] = encoded(f"{kept.version} {kept.lines.cart_id or ''} {kept.lines.settled_id or ''}")
        if kept.lines.left_out:
            put[_LEFT_OUT] = json.dumps(dict(kept.lines.left_out)).encode()
        gone = frozenset(name for name in self.fields if name.startswith(_LINE) and name not in lines)
        gone |= {_LEFT_OUT} & self.fields.keys() - put.keys()
        changes = Changes(put=put, drop=gone | also.drop, expect={_KEPT: self._seen(), **also.expect})
        with suppress(Refused):
            await self.session.change(changes)
            return True
        return False

    async def void(self) -> None:
        """Whatever the copy is by now, nobody believes it."""
        gone = frozenset(name for name in self.fields if name.startswith(_LINE))
        await self.session.change(Changes(put={_KEPT: encoded(_VOID + secrets.token_urlsafe(8))}, drop=gone))

    def _seen(self) -> bytes | None:
        seen = self.fields.get(_KEPT)
        return encoded(seen) if isinstance(seen, str) else None
