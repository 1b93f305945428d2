"""The outbox: mail is kept in the transaction that gives reason for it, and sent after its commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, null, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.mail import Language, Message
from app.stores.database import AnyRow, Database
from app.stores.tables_mail import outbox

LISTED_MOST: Final = 1000

_WAITS: Final = and_(outbox.c.sent_at.is_(None), outbox.c.given_up_at.is_(None))


async def add(connection: AsyncConnection, message: Message) -> None:
    """Have the message sent if this transaction commits."""
    await connection.execute(
        insert(outbox).values(
            id=str(uuid4()),
            kind=message.kind,
            recipient=message.recipient,
            language=message.language,
            fields=dict(message.fields),
            expires_at=message.expires_at,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A message whose turn it is; `attempts` counts this one."""

    id: str
    message: Message
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much waits, since when, and how much was given up."""

    waiting: int
    oldest_s: float
    given_up: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one message stands."""

    id: str
    kind: str
    recipient: str
    language: Language
    created_at: datetime
    next_at: datetime
    attempts: int
    last_error: str | None
    given_up_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlOutbox:
    """The messages that wait, on the table `outbox`; any number of replicas may take from it together."""

    database: Database

    async def take(self, places: int, *, lease: timedelta) -> Sequence[Due]:
        """At most that many messages that are due, each given to one taker.

        Nobody else gets them within the lease; a taker that dies with one gives it back by that.
        """

        async def work(connection: AsyncConnection) -> Sequence[Due]:
            due = (
                select(outbox.c.id)
                .where(_WAITS, outbox.c.next_at <= func.clock_timestamp())
                .order_by(outbox.c.next_at)
                .limit(places)
                .with_for_update(skip_locked=True)
            )
            ids = (await connection.execute(due)).scalars().all()
            if not ids:
                return []
            taken = await connection.execute(
                update(outbox)
                .where(outbox.c.id.in_(ids))
                .values(attempts=outbox.c.attempts + 1, next_at=func.clock_timestamp() + lease)
                .returning(outbox)
            )
            return [Due(id=row.id, message=_message(row), attempts=row.attempts) for row in taken]

        return await self.database.transaction(work)

    async def sent(self, message_id: str) -> None:
        """It was taken on; its facts are forgotten."""
        await self._end(message_id, sent_at=func.clock_timestamp(), fields=null(), last_error=None)

    async def postpone(self, message_id: str, *, pause: timedelta, why: str) -> None:
        """Let it be tried again after the pause."""
        await self._end(message_id, next_at=func.clock_timestamp() + pause, last_error=why)

    async def give_up(self, message_id: str, *, why: str) -> None:
        """Try it no more, until an operator asks for it."""
        await self._end(message_id, given_up_at=func.clock_timestamp(), last_error=why)

    async def drop(self, message_id: str) -> None:
        """It is not to be sent at all."""
        await self._run(delete(outbox).where(outbox.c.id == message_id, _WAITS))

    async def revive(self, message_id: str | None = None) -> int:
        """Try again at once what waits or was given up, one message or all; how many there were."""
        chosen = _is_open() if message_id is None else and_(outbox.c.id == message_id, _is_open())
        return await self._run(
            update(outbox).where(chosen).values(next_at=func.clock_timestamp(), attempts=0, given_up_at=None)
        )

    async def forget(self, older_than: timedelta) -> int:
        """Delete what was sent so long ago that nobody asks for it; how many there were."""
        return await self._run(delete(outbox).where(outbox.c.sent_at < func.now() - older_than))

    async def backlog(self) -> Backlog:
        """Counted in two indexes that hold nothing else."""
        oldest = func.extract("epoch", func.now() - func.min(case((_WAITS, outbox.c.created_at))))
        row = await self.database.row(
            select(
                func.count().filter(_WAITS).label("waiting"),
                func.coalesce(oldest, 0).label("oldest_s"),
                func.count().filter(outbox.c.given_up_at.is_not(None)).label("given_up"),
            ).where(_is_open())
        )
        if row is None:  # a count always has its row
            return Backlog(waiting=0, oldest_s=0.0, given_up=0)
        return Backlog(waiting=row.waiting, oldest_s=float(row.oldest_s), given_up=row.given_up)

    async def open(self) -> Sequence[Standing]:
        """What waits or was given up, oldest first; a thousand at most."""
        rows = await self.database.rows(
            select(outbox).where(_is_open()).order_by(outbox.c.created_at, outbox.c.id).limit(LISTED_MOST)
        )
        return [
            Standing(**{name: getattr(row, name) for name in Standing.__dataclass_fields__}) for row in rows
        ]

    async def _end(self, message_id: str, **values: Any) -> None:  # noqa: ANN401 -- values of columns
        """What came of an attempt; of two attempts at the same message, the first that succeeded counts."""
        await self._run(update(outbox).where(outbox.c.id == message_id, _WAITS).values(values))

    async def _run(self, statement: Any) -> int:  # noqa: ANN401 -- an update or a delete
        async def work(connection: AsyncConnection) -> int:
            return int((await connection.execute(statement)).rowcount)

        return await self.database.transaction(work)


def _is_open() -> ColumnElement[bool]:
    return or_(_WAITS, and_(outbox.c.given_up_at.is_not(None), outbox.c.sent_at.is_(None)))


def _message(row: AnyRow) -> Message:
    fields: Mapping[str, Any] = row.fields or {}
    return Message(
        kind=row.kind,
        recipient=row.recipient,
        language=row.language,
        fields=fields,
        expires_at=row.expires_at,
    )
