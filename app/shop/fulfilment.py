"""What the shop does with an order once it has one: packs, ships and delivers it, or takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.shop.desk.audit import Deed
from app.shop.errors import WrongStatus
from app.shop.orders import Move, Order, Orders, OrderStatus
from app.shop.settlement import Settlement

BY_HAND: Final[frozenset[OrderStatus]] = frozenset(
    {"packed", "shipped", "delivered", "cancelled", "refunded"}
)
"""Where people take an order to; the other steps are the payment's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOrder:
    """Take anybody's order one step on.

    A card is charged when the parcel is shipped, and gets its money back when the order is cancelled or
    refunded. Units go back on the shelf only from orders that never left the house.
    """

    orders: Orders
    settlement: Settlement | None

    async def __call__(self, order_id: str, *, to: OrderStatus, by: Deed, note: str = "") -> Order:
        """The order after it, also when it was there before.

        Raises `NotFound`, `WrongStatus`, `AlreadyDone` for a form that did something before, `Unavailable`.
        """
        if to not in BY_HAND:
            raise WrongStatus(to)
        moved = await self.orders.move(order_id, Move(to=to, actor=by.account_id, note=note, deed=by))
        if self.settlement is not None:
            await self.settlement.hurry(order_id)
        return moved
