"""Orders, their stock, their history and the shop's book of payments, in PostgreSQL."""

from __future__ import annotations

from app.stores.orders.ledger import SqlLedger
from app.stores.orders.store import SqlOrders

__all__ = ["SqlLedger", "SqlOrders"]
