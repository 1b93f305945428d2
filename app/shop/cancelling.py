"""An order that is not wanted any more."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.errors import NotFound
from app.shop.orders import COD, Move, Order, Orders
from app.shop.orders.statuses import CUSTOMER_CANCELS
from app.shop.settlement import Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrder:
    """Cancel an own order before it is packed: the units go back on the shelf, and the money to its owner.

    Status, stock and the wish for the money are one transaction; the money follows at once if the acquirer
    answers, and otherwise as soon as it does.
    """

    orders: Orders
    settlement: Settlement | None

    async def __call__(self, *, account_id: str, order_id: str) -> Order:
        """The cancelled order, also when it was before; raises `NotFound`, `WrongStatus`, `Unavailable`."""
        order = await self.orders.by_id(account_id, order_id)
        if order is None:
            raise NotFound("order")
        step = Move(to="cancelled", actor=account_id, only_from=CUSTOMER_CANCELS)
        cancelled = await self.orders.move(order.id, step)
        if self.settlement is None or order.payment == COD:
            return cancelled
        await self.settlement.hurry(order.id)
        return await self.orders.by_id(account_id, order_id) or cancelled
