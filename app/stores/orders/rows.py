"""Orders as rows: how they are selected, and what they are made into."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from sqlalchemy import ColumnElement, func, select

from app.shop.orders import STATUSES, Order, OrderLine, OrderStatus, Shipping, Totals, order_number
from app.stores.database import AnyRow, AnySelect
from app.stores.tables_orders import order_lines, order_payments, orders

_OLDER: Final = {"placed": "confirmed"}
"""How versions before this one called a status; replicas of theirs may still write it."""

_SPELLINGS: Final = {known: older for older, known in _OLDER.items()}


def with_lines(*which: ColumnElement[bool]) -> AnySelect:
    """The orders, newest first, a row for each line."""
    return (
        select(
            orders,
            order_payments.c.redirect_url,
            order_payments.c.declined_as,
            order_payments.c.status.label("money"),
            order_lines.c.sku,
            order_lines.c.name,
            order_lines.c.quantity,
            order_lines.c.unit_price,
        )
        .join_from(orders, order_lines)
        .outerjoin(order_payments)
        .where(*which)
        .order_by(orders.c.sequence.desc(), order_lines.c.position)
    )


def orders_of(rows: Sequence[AnyRow]) -> Sequence[Order]:
    """The orders that rows of `with_lines` tell."""
    return [_order(list(lines)) for _, lines in groupby(rows, key=lambda row: row.id)]


def has_status(*statuses: OrderStatus) -> ColumnElement[bool]:
    """Whether an order has one of those, however it is spelt."""
    older = [_SPELLINGS[status] for status in statuses if status in _SPELLINGS]
    return orders.c.status.in_([*statuses, *older])


def status_of(text: str) -> OrderStatus:
    """The status that a row tells."""
    known = _OLDER.get(text, text)
    return next(status for status in STATUSES if status == known)


def amounts_of(row: AnyRow) -> Totals:
    """What an order costs; older ones had nothing but a total."""
    return Totals(
        subtotal=row.total if row.subtotal is None else row.subtotal,
        shipping_fee=row.shipping_fee,
        discount=row.discount,
        vat_included=row.vat_included,
    )


def _order(rows: Sequence[AnyRow]) -> Order:
    first = rows[0]
    return Order(
        id=first.id,
        number=order_number(first.placed_at, first.sequence),
        cart_id=first.cart_id,
        account_id=first.account_id,
        guest=first.guest,
        status=status_of(first.status),
        payment=first.payment,
        shipping=Shipping(**first.shipping),
        lines=[
            OrderLine(sku=row.sku, name=row.name, quantity=row.quantity, unit_price=row.unit_price)
            for row in rows
        ],
        totals=amounts_of(first),
        placed_at=first.placed_at,
        redirect_url=first.redirect_url,
        declined_as=first.declined_as,
        money=first.money,
    )


now: Final = func.clock_timestamp
"""The database's clock, which all replicas share."""
