"""Addresses that an account keeps."""

from __future__ import annotations

from app.web.api.models.base import Input, ListOut, Output, Text


class NewAddress(Input):
    """A place that parcels go to."""

    name: Text
    phone: Text
    address: Text
    province: Text = ""
    is_default: bool = False


class SavedAddressOut(Output):
    """An address that is kept."""

    id: str
    name: str
    phone: str
    address: str
    province: str
    is_default: bool


class AddressesOut(ListOut):
    """Every address of this account, in one page."""

    items: list[SavedAddressOut]
