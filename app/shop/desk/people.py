"""Accounts and where they are logged in, as the owner looks after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.shop.accounts import Account
from app.shop.paging import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """One session of an account; times are seconds since 1970, `handle` names it to nobody but the shop."""

    handle: str
    device: str
    address: str
    created_at: float
    last_seen_at: float


class AccountBook(Protocol):
    """All accounts. Raises `Unavailable`."""

    async def page(self, text: str, *, page: int, page_size: int) -> Page[Account]:
        """Those whose e-mail or name has the text, the newest first; raises `Invalid` for a wrong page."""


class AllSessions(Protocol):
    """Sessions of any account. Raises `Unavailable`."""

    async def of(self, account_id: str) -> Sequence[Whereabouts]:
        """Those that live, the latest seen first."""

    async def end_one(self, account_id: str, handle: str) -> str | None:
        """End that one; its handle, None when there is none."""

    async def end_all(self, account_id: str) -> int:
        """End all of them; the epoch that ended them."""
