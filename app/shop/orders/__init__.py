"""Orders: what they are, the steps they may take, and what the shop needs of their store."""

from __future__ import annotations

from app.shop.orders.ledger import Booking, Ledger, LedgerStatus, OpenPayment, Wanted
from app.shop.orders.order import (
    COD,
    VIETNAM,
    Means,
    Order,
    OrderEvent,
    OrderLine,
    Shipping,
    Totals,
    order_number,
)
from app.shop.orders.ports import THE_SHOP, Move, OrderQuery, OrderRequest, Orders
from app.shop.orders.statuses import LISTED, NEXT, STATUSES, OrderStatus, check_step

__all__ = [
    "COD",
    "LISTED",
    "NEXT",
    "STATUSES",
    "THE_SHOP",
    "VIETNAM",
    "Booking",
    "Ledger",
    "LedgerStatus",
    "Means",
    "Move",
    "OpenPayment",
    "Order",
    "OrderEvent",
    "OrderLine",
    "OrderQuery",
    "OrderRequest",
    "OrderStatus",
    "Orders",
    "Shipping",
    "Totals",
    "Wanted",
    "check_step",
    "order_number",
]
