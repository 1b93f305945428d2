"""The owner's desk."""

from __future__ import annotations

from app.resilience import Limiter
from app.shop.desk.desk import Desk
from app.shop.desk.pictures import AddPicture
from app.stores.darkroom import PillowDarkroom
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.desk.goods import SqlGoods
from app.stores.desk.pictures import SqlPictures
from app.stores.desk.stock import SqlStock


def desk_of(*, database: Database, images: Limiter) -> Desk:
    """Its ports on the real stores; `images` has the threads that pictures are made in."""
    pictures = SqlPictures(database=database)
    return Desk(
        goods=SqlGoods(database=database),
        stock=SqlStock(database=database),
        audit=SqlAuditLog(database=database),
        pictures=pictures,
        add_picture=AddPicture(darkroom=PillowDarkroom(limiter=images), pictures=pictures),
    )
