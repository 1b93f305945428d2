"""What the shop does with an order once it has one: packs, ships and delivers it, or takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.shop.errors import WrongStatus
from app.shop.orders import Move, Order, Orders, OrderStatus, check_step
from app.shop.settlement import Settlement

BY_HAND: Final[frozenset[OrderStatus]] = frozenset(
    {"packed", "shipped", "delivered", "cancelled", "refunded"}
)
"""Where people take an order to; the other steps are the payment's."""


def check_by_hand(to: OrderStatus, *, before: OrderStatus | None = None) -> None:
    """Raise `WrongStatus` for a step that is not people's, or that an order in status `before` cannot take."""
    if to not in BY_HAND:
        raise WrongStatus(to)
    if before is not None and before != to:
        check_step(before, to)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOrder:
    """Take anybody's order one step on.

    A card is charged when the parcel is shipped, and gets its money back when the order is cancelled or
    refunded. Units go back on the shelf only from orders that never left the house.
    """

    orders: Orders
    settlement: Settlement | None

    async def __call__(self, order_id: str, *, to: OrderStatus, actor: str, note: str = "") -> Order:
        """The order after it, also when it was there before.

        `actor` is the account that does it. Raises `NotFound`, `WrongStatus`, `Unavailable`.
        """
        check_by_hand(to)
        moved = await self.orders.move(order_id, Move(to=to, actor=actor, note=note))
        if self.settlement is not None:
            await self.settlement.hurry(order_id)
        return moved
