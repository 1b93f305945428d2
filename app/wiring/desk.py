"""The owner's desk."""

from __future__ import annotations

from app.resilience import Limiter
from app.sessions import Sessions
from app.shop.desk.desk import Desk
from app.shop.desk.pictures import AddPicture
from app.stores.darkroom import PillowDarkroom
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.desk.goods import SqlGoods
from app.stores.desk.jobs import SqlJobs
from app.stores.desk.orders import SqlOrderBook
from app.stores.desk.people import SqlAccountBook, StoredSessions
from app.stores.desk.pictures import SqlPictures
from app.stores.desk.stock import SqlStock
from app.stores.desk.vouchers import SqlVoucherBook
from app.stores.imports import SqlImports


def desk_of(*, database: Database, background: Database, sessions: Sessions, images: Limiter) -> Desk:
    """Its ports on the real stores; `images` has the threads that pictures are made in.

    What takes long, as the whole catalogue does, is read by `background`.
    """
    pictures = SqlPictures(database=database)
    return Desk(
        goods=SqlGoods(database=database),
        stock=SqlStock(database=database),
        audit=SqlAuditLog(database=database),
        orders=SqlOrderBook(database=database),
        accounts=SqlAccountBook(database=database),
        sessions=StoredSessions(sessions=sessions),
        jobs=SqlJobs(database=database),
        catalogue=SqlImports(database=background),
        pictures=pictures,
        add_picture=AddPicture(darkroom=PillowDarkroom(limiter=images), pictures=pictures),
        vouchers=SqlVoucherBook(database=database),
    )
