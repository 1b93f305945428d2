"""The postman: takes mail from the outbox to the mail server, in every replica, whatever becomes of either.

A mail is sent at least once. Whoever takes it on pushes its next attempt beyond the end of this one; if the
process dies with it, that attempt comes, under the same Message-ID. No page ever waits for any of this.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from app.resilience import Bulkhead
from app.shop.errors import Unavailable
from app.shop.mail import MailServer, Message, Undeliverable
from app.stores.outbox import Backlog, Due, SqlOutbox

_log = logging.getLogger(__name__)

_MARGIN: Final = timedelta(seconds=10)
"""Between the end of an attempt and the next one by somebody else: time to book the outcome."""

_WHY_MOST: Final = 200

Outcome = Literal["sent", "postponed", "given_up", "expired", "dropped"]

Prepare = Callable[[Message], Awaitable[Message | None]]
"""Makes the mail of what was asked for, at the last moment, so that no secret waits in the outbox.

None where there is nobody to write to. Raises `Unavailable`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostmanConfig:
    """How mail is brought to the server.

    One attempt takes no longer than `timeout`. A retry comes after `first_wait`, each next one after twice as
    long, at most `longest_wait`, spread by half; a hundred of them are about a day. What was sent is
    remembered for `kept`.
    """

    timeout: timedelta = timedelta(seconds=25)
    first_wait: timedelta = timedelta(seconds=10)
    longest_wait: timedelta = timedelta(minutes=15)
    tries: int = 100
    look_every: timedelta = timedelta(seconds=1)
    count_every: timedelta = timedelta(seconds=15)
    kept: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailEvent:
    """What came of one attempt."""

    kind: str
    outcome: Outcome


Listener = Callable[[MailEvent], None]


class Postman:
    """Takes what is due, as many at a time as there are slots. Built without I/O."""

    def __init__(
        self,
        outbox: SqlOutbox,
        server: MailServer,
        slots: Bulkhead,
        *,
        config: PostmanConfig | None = None,
        preparations: Mapping[str, Prepare] | None = None,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.backlog = Backlog(waiting=0, oldest_s=0.0, given_up=0)
        self._outbox = outbox
        self._server = server
        self._slots = slots
        self._config = config or PostmanConfig()
        self._preparations = dict(preparations or {})
        self._listeners = tuple(listeners)
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_cut_off = False

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as working:
            working.create_task(self._deliver())
            working.create_task(self._count())

    async def _deliver(self) -> None:
        try:
            while True:
                await self._take()
                await self._wait()
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _take(self) -> None:
        places = self._slots.snapshot().available
        try:
            due = await self._outbox.take(places, lease=self._config.timeout + _MARGIN) if places else []
        except Unavailable as away:
            self._say_once(away)
            return
        self._is_cut_off = False
        for one in due:
            task = asyncio.create_task(self._attempt(one))
            self._under_way.add(task)
            task.add_done_callback(self._ended)

    async def _wait(self) -> None:
        """Until a slot is free; if there are free ones, until it is time to look again."""
        look_every_s = self._config.look_every.total_seconds()
        if self._slots.snapshot().available or not self._under_way:
            await asyncio.sleep(look_every_s)
        else:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    async def _attempt(self, due: Due) -> None:
        async with self._slots.take():
            try:
                outcome = await self._carry(due)
            except Unavailable:
                _log.warning("what came of mail %s is not booked; it may come again", due.id)
                return
        for listener in self._listeners:
            listener(MailEvent(kind=due.message.kind, outcome=outcome))

    async def _carry(self, due: Due) -> Outcome:
        """Try it, and book what came of it; raises `Unavailable` where that cannot be booked."""
        expires_at = due.message.expires_at
        if expires_at is not None and expires_at <= datetime.now(UTC):
            return await self._give_up(due, "its time is over", outcome="expired")
        try:
            async with asyncio.timeout(self._config.timeout.total_seconds()):
                message = await self._prepared(due.message)
                if message is None:
                    await self._outbox.drop(due.id)
                    return "dropped"
                await self._server.send(message, message_id=due.id)
        except Undeliverable as refused:
            return await self._give_up(due, str(refused))
        except (Unavailable, TimeoutError) as away:
            return await self._postpone(due, str(away) or "the mail server did not answer in time")
        await self._outbox.sent(due.id)
        return "sent"

    async def _prepared(self, message: Message) -> Message | None:
        prepare = self._preparations.get(message.kind)
        return message if prepare is None else await prepare(message)

    async def _postpone(self, due: Due, why: str) -> Outcome:
        if due.attempts >= self._config.tries:
            return await self._give_up(due, f"{due.attempts} attempts; the last: {why}")
        doubled: timedelta = self._config.first_wait * 2 ** min(due.attempts - 1, 30)
        pause = min(doubled, self._config.longest_wait) * random.uniform(0.5, 1)  # noqa: S311 -- not a secret
        await self._outbox.postpone(due.id, pause=pause, why=why[:_WHY_MOST])
        _log.warning("mail %s (%s) is postponed: %s", due.id, due.message.kind, why)
        return "postponed"

    async def _give_up(self, due: Due, why: str, *, outcome: Outcome = "given_up") -> Outcome:
        await self._outbox.give_up(due.id, why=why[:_WHY_MOST])
        _log.error("mail %s (%s) is given up: %s", due.id, due.message.kind, why)
        return outcome

    async def _count(self) -> None:
        while True:
            try:
                self.backlog = await self._outbox.backlog()
                await self._outbox.forget(self._config.kept)
            except Unavailable as away:
                self._say_once(away)
            await asyncio.sleep(self._config.count_every.total_seconds())

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A mistake of ours with one mail keeps the others from nothing; the lease brings it again."""
        self._under_way.discard(task)
        if not task.cancelled() and (mistake := task.exception()) is not None:
            _log.error("a mail could not be handled", exc_info=mistake)

    def _say_once(self, away: Unavailable) -> None:
        if not self._is_cut_off:
            _log.warning("mail waits: %s", away)
        self._is_cut_off = True
