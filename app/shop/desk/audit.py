"""Who changed what at the owner's desk: each change and its entry are one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.shop.paging import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Who does something, from which address, with which shown form; a form does it once."""

    account_id: str
    address: str
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change. `subject` is a kind and a name, as in ``product ca-phe``; values are what differed."""

    id: int
    at: datetime
    account_id: str
    email: str
    address: str
    action: str
    subject: str
    before: Mapping[str, object]
    after: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """What an owner looks for: part of a subject, an action, an actor's e-mail; empty is any."""

    subject: str = ""
    action: str = ""
    email: str = ""
    page: int = 1
    page_size: int = 50


class AuditLog(Protocol):
    """The entries. Raises `Unavailable`."""

    async def note(self, deed: Deed, *, action: str, subject: str, after: Mapping[str, object]) -> None:
        """Write that something is about to be done that may be done again to no harm, once per form.

        Raises `AlreadyDone` for a form that said something else before, or the same a while ago: nothing is
        done without its entry.
        """

    async def page(self, query: AuditQuery) -> Page[AuditEntry]:
        """What matches, newest first; raises `Invalid` for a page that no list has."""
