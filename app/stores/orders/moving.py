"""A step of an order, with all that it means for stock, cart, key, payment and history."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.desk.audit import Deed
from app.shop.errors import NotFound, WrongStatus
from app.shop.orders import Booking, Move, Order, OrderStatus, check_step
from app.shop.orders.ledger import WISHES
from app.shop.orders.statuses import HOLDS_STOCK, RESERVES_STOCK
from app.stores import ordered_carts, vouchers
from app.stores.desk.audit import once, record
from app.stores.orders import history, keys, ledger, mail, stock
from app.stores.orders.rows import orders_of, status_of, with_lines
from app.stores.tables_orders import orders


async def move(
    connection: AsyncConnection,
    order_id: str,
    step: Move,
    at: datetime,
    *,
    guest_path: mail.GuestPath | None = None,
) -> Order:
    """One transaction: the order's row is locked first, its SKUs after it, sorted, an account's cart last."""
    if step.deed is not None:
        await once(connection, step.deed)
    before = await _locked(connection, order_id)
    if before != step.to:
        if step.only_from is not None and before not in step.only_from:
            raise WrongStatus(before)
        check_step(before, step.to)
        await _take(connection, order_id, before, step)
        await history.note(
            connection,
            order_id,
            happened_at=at,
            actor=step.actor,
            before=before,
            after=step.to,
            note=step.note,
        )
        if step.deed is not None:
            await _log(connection, order_id, before, step, step.deed)
        if (booking := _booking(step)) is not None:
            await ledger.write(connection, order_id, booking, expires_in=step.wait_for)
    found = await connection.execute(with_lines(orders.c.id == order_id))
    order = orders_of(found.all())[0]
    if before != step.to:
        if step.to == "confirmed":
            await ordered_carts.empty(connection, order)
        await mail.tell(connection, order, guest_path)
    return order


async def _log(
    connection: AsyncConnection, order_id: str, before: OrderStatus, step: Move, deed: Deed
) -> None:
    await record(
        connection,
        deed,
        action="order.move",
        subject=f"order {order_id}",
        before={"status": before},
        after={"status": step.to, "note": step.note},
    )


def _booking(step: Move) -> Booking | None:
    """What the step means for the money: as it says itself, or as its status does."""
    if step.booking is not None or step.to not in WISHES:
        return step.booking
    return Booking(wanted=WISHES[step.to], look_in=timedelta(0))


async def _locked(connection: AsyncConnection, order_id: str) -> OrderStatus:
    status = await connection.scalar(select(orders.c.status).where(orders.c.id == order_id).with_for_update())
    if status is None:
        raise NotFound("order")
    return status_of(status)


async def _take(connection: AsyncConnection, order_id: str, before: OrderStatus, step: Move) -> None:
    values: dict[str, object] = {"status": step.to}
    if step.to in {"cancelled", "failed"} and before in RESERVES_STOCK:
        values["cart_id"] = None  # it never left the cart, which may be ordered again
    await connection.execute(update(orders).where(orders.c.id == order_id).values(values))
    await _move_stock(connection, order_id, before, step)
    if step.to in {"cancelled", "failed"}:
        await vouchers.give_back(connection, order_id)
    await _answer_key(connection, order_id, step)


async def _move_stock(connection: AsyncConnection, order_id: str, before: OrderStatus, step: Move) -> None:
    if step.to in {"cancelled", "failed"}:
        if before in RESERVES_STOCK:
            await stock.release_reserved(connection, order_id)
        elif before in HOLDS_STOCK:
            await stock.return_sold(connection, order_id)
    elif step.to == "awaiting_payment" and step.wait_for is not None:
        await stock.keep_reserved(connection, order_id, step.wait_for)
    elif before in RESERVES_STOCK:
        await stock.sell_reserved(connection, order_id)


async def _answer_key(connection: AsyncConnection, order_id: str, step: Move) -> None:
    """What the shopper is told, or was; a try that came to nothing leaves the key as if it never was."""
    was_declined = step.booking is not None and step.booking.status == "declined"
    if step.to == "failed" and not was_declined:
        await keys.forget(connection, order_id)
    elif step.to in {"awaiting_payment", "confirmed", "failed"}:
        await keys.settle(connection, order_id, step.to)
