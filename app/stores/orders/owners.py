"""Whose an order is: an account's, or that of a guest whom only an opaque name tells."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, false

from app.shop.guests import is_guest
from app.shop.text import storable
from app.stores.accounts import is_uuid


def owned(table: Table, owner: str) -> ColumnElement[bool]:
    """Whether a row of the table is theirs."""
    if is_guest(owner) and storable(owner):
        return table.c.guest == owner
    return table.c.account_id == owner if is_uuid(owner) else false()


def columns_of(owner: str) -> dict[str, str | None]:
    """What a row of theirs says of them."""
    return {"account_id": None, "guest": owner} if is_guest(owner) else {"account_id": owner, "guest": None}
