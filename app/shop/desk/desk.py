"""The desk as the web sees it: everything a route of it may call."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.desk.audit import AuditLog
from app.shop.desk.goods import Goods
from app.shop.desk.jobs import Jobs
from app.shop.desk.orders import OrderBook
from app.shop.desk.people import AccountBook, AllSessions
from app.shop.desk.pictures import AddPicture, Pictures
from app.shop.desk.stock import Stock
from app.shop.desk.vouchers import VoucherBook
from app.shop.importing import Imports


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The ports of the owner's desk."""

    goods: Goods
    stock: Stock
    audit: AuditLog
    orders: OrderBook
    accounts: AccountBook
    sessions: AllSessions
    jobs: Jobs
    catalogue: Imports
    pictures: Pictures
    add_picture: AddPicture
    vouchers: VoucherBook
