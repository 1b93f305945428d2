"""The owner's desk."""

from __future__ import annotations

from app.shop.desk.desk import Desk
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.desk.goods import SqlGoods
from app.stores.desk.stock import SqlStock


def desk_of(*, database: Database) -> Desk:
    """Its ports on the real stores."""
    return Desk(
        goods=SqlGoods(database=database),
        stock=SqlStock(database=database),
        audit=SqlAuditLog(database=database),
    )
