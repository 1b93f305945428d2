"""Takes the names of people who are gone off what they wrote, which another service keeps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from app.shop.errors import ShopError, Unavailable
from app.shop.reviewing import Reviewing

_log = logging.getLogger(__name__)

_AT_ONCE: Final = 20


class ErasedAuthors(Protocol):
    """Accounts that were erased. Raises `Unavailable`."""

    async def due(self, *, most: int) -> Sequence[str]:
        """Those whose reviews may still name them, none of which can be writing one any more."""

    async def forgotten(self, account_id: str) -> None:
        """Keep that no review names them now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetAuthors:
    """Runs in every replica. Two may forget the same author at once, which does no harm."""

    authors: ErasedAuthors
    reviewing: Reviewing
    interval: timedelta = timedelta(seconds=5)

    async def run(self) -> None:
        """Look again and again; while the database or the reviews are away, nothing is lost."""
        while True:
            try:
                await self.once()
            except Unavailable as away:
                _log.info("erased accounts keep their name at their reviews for now: %s", away)
            except ShopError:
                _log.exception("the name of an erased account at its reviews needs a person")
            await asyncio.sleep(self.interval.total_seconds())

    async def once(self) -> int:
        """One look at what is due; how many accounts that were."""
        due = await self.authors.due(most=_AT_ONCE)
        for account_id in due:
            await self.reviewing.forget(account_id)
            await self.authors.forgotten(account_id)
        return len(due)
