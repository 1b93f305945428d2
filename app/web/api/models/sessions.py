"""Log-ins, and the devices that they are on."""

from __future__ import annotations

from datetime import datetime

from app.web.api.models.accounts import AccountOut
from app.web.api.models.base import Input, ListOut, Output, Text


class Credentials(Input):
    """Who wants to come in."""

    email: Text
    password: Text


class SessionOut(Output):
    """Who is logged in."""

    account: AccountOut | None


class DeviceOut(Output):
    """One session of this account."""

    handle: str
    current: bool
    created_at: datetime
    last_seen_at: datetime
    ip: str
    device: str


class DevicesOut(ListOut):
    """Every session of this account, in one page."""

    items: list[DeviceOut]
