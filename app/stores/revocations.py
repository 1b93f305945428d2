"""Ends of sessions as rows in PostgreSQL, and giving them again to a session store that lost them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Final

from sqlalchemy import delete, extract, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.ext.asyncio import AsyncConnection

from app.sessions import Sessions, StoreUnavailable
from app.shop.errors import Unavailable
from app.shop.revocations import End, Unsettled, user_of
from app.stores.database import Database
from app.stores.tables import ended_sessions, revocations

_log = logging.getLogger(__name__)

_FLIGHT: Final = timedelta(seconds=15)
"""Longer than any request may take: a promise older than this is nobody's any more."""

_EVERY_S: Final = 2.0
"""Each look is one query and one command; a store that lost revocations has them again after this."""

_PRUNE_EVERY_S: Final = 3600.0
"""Rows that can end nothing any more cost only their space."""

_AT_ONCE: Final = 200
"""Revocations on their way at the same time; they leave as one pipeline."""


async def promise(connection: AsyncConnection, account_id: str) -> int:
    """Promise in this transaction that sessions of the account end; the id of the promise."""
    promised = await connection.execute(
        insert(revocations).values(account_id=account_id).returning(revocations.c.id)
    )
    return int(promised.scalar_one())


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRevocations:
    """The revocations' port on the table of that name."""

    database: Database

    async def keep(self, account_id: str, *, epoch: int) -> None:
        """One row."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(insert(revocations).values(account_id=account_id, epoch=epoch))

        await self.database.transaction(work)

    async def keep_one(self, handle: str) -> None:
        """One row, however often it is asked for."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(insert_or(ended_sessions).values(handle=handle).on_conflict_do_nothing())

        try:
            await self.database.transaction(work)
        except Unavailable as away:
            _log.warning("the end of session %s… is kept in the session store alone: %s", handle[:8], away)

    async def settle(self, revocation_id: int, *, epoch: int) -> None:
        """The first who settles it dates it."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(
                update(revocations)
                .where(revocations.c.id == revocation_id, revocations.c.epoch.is_(None))
                .values(epoch=epoch)
            )

        await self.database.transaction(work)

    async def unsettled(self) -> Sequence[Unsettled]:
        """One query on an index that is nearly always empty."""
        rows = await self.database.rows(
            select(revocations.c.id, revocations.c.account_id)
            .where(revocations.c.epoch.is_(None), revocations.c.asked_at < func.now() - _FLIGHT)
            .order_by(revocations.c.id)
        )
        return [Unsettled(id=row.id, account_id=row.account_id) for row in rows]

    async def recent(self, within: timedelta) -> Mapping[str, int]:
        """One query. An epoch is the time of its end in milliseconds: a promise may be kept long after it."""
        since_ms = 1000 * extract("epoch", func.now() - within)
        rows = await self.database.rows(
            select(revocations.c.account_id, func.max(revocations.c.epoch).label("epoch"))
            .where(revocations.c.epoch > since_ms)
            .group_by(revocations.c.account_id)
        )
        return {row.account_id: row.epoch for row in rows}

    async def recent_ones(self, within: timedelta) -> Sequence[str]:
        """One query."""
        rows = await self.database.rows(
            select(ended_sessions.c.handle).where(ended_sessions.c.ended_at > func.now() - within)
        )
        return [row.handle for row in rows]

    async def prune(self, within: timedelta) -> None:
        """Forget what ended longer ago; what was promised and not kept stays."""
        since_ms = 1000 * extract("epoch", func.now() - within)

        async def work(connection: AsyncConnection) -> None:
            old = revocations.c.asked_at < func.now() - within
            await connection.execute(delete(revocations).where(old, revocations.c.epoch < since_ms))
            await connection.execute(
                delete(ended_sessions).where(ended_sessions.c.ended_at < func.now() - within)
            )

        await self.database.transaction(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEpochs:
    """The epochs' port on the session layer."""

    sessions: Sessions

    async def of(self, account_id: str) -> int:
        """One round trip."""
        with unavailable():
            return await self.sessions.epoch(user_of(account_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnds:
    """The ends' port on the session layer."""

    sessions: Sessions

    def of(self, account_id: str) -> End:
        """One round trip for each store of sessions."""

        async def end() -> int:
            with unavailable():
                return await self.sessions.end_all(user_of(account_id))

        return end


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Gives the session store what the rows know and it may not: what it lost, and what was only promised."""

    sessions: Sessions
    revocations: SqlRevocations

    @property
    def within(self) -> timedelta:
        """How long an end can still matter to a session."""
        return timedelta(milliseconds=self.sessions.config.kept_ms)

    async def run(self) -> None:
        """Look again and again, and tidy up now and then; while a store is away, nothing is lost."""
        for look in count():
            with suppress(StoreUnavailable, Unavailable):
                await self.once()
                if look % int(_PRUNE_EVERY_S / _EVERY_S) == 0:
                    await self.revocations.prune(self.within)
            await asyncio.sleep(_EVERY_S)

    async def once(self) -> None:
        """One look. Several replicas may do the same at once: an epoch only rises, and to the same value."""
        for promised in await self.revocations.unsettled():
            epoch = await self.sessions.end_all(user_of(promised.account_id))
            await self.revocations.settle(promised.id, epoch=epoch)
        if not await self.sessions.remembers():
            await self._remind()

    async def _remind(self) -> None:
        ends = [
            partial(self.sessions.end_all, user_of(account_id), epoch=epoch)
            for account_id, epoch in (await self.revocations.recent(self.within)).items()
        ]
        ones = [
            partial(self.sessions.end_again, handle)
            for handle in await self.revocations.recent_ones(self.within)
        ]
        every: Sequence[Callable[[], Awaitable[object]]] = [*ends, *ones]
        for begin in range(0, len(every), _AT_ONCE):
            await asyncio.gather(*(end() for end in every[begin : begin + _AT_ONCE]))
        await self.sessions.remember()
        _log.info("%d ends of sessions given to the session store, which may not know them", len(every))


@contextmanager
def unavailable() -> Iterator[None]:
    """The session layer's word for "cannot answer", said as the shop's."""
    try:
        yield
    except StoreUnavailable as away:
        raise Unavailable("the session store") from away
