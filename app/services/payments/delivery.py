"""Bringing events to their consumers: a queue, a limit and a connection pool for each of them.

The queues are rows, so they outlive the process, and several processes may empty them together. Whoever
takes a delivery pushes its next attempt beyond the end of this one; if the process dies, that attempt comes.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.clients.http import Connections, HttpError
from app.clients.webhooks import sign
from app.services.payments.config import Consumer, DeliveryConfig
from app.services.payments.tables import deliveries, events
from app.shop.errors import Unavailable
from app.stores.database import Database

_log = logging.getLogger(__name__)

_MARGIN: Final = timedelta(seconds=5)
"""Between the end of an attempt and the next one by somebody else: time to book the outcome."""

_ERROR_MOST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One event on its way to one consumer; `attempts` counts this one."""

    event_id: str
    body: bytes
    attempts: int


class Queue:
    """The deliveries of one consumer. A dead consumer keeps its own places busy, and nobody else's."""

    def __init__(self, database: Database, consumer: Consumer, config: DeliveryConfig) -> None:
        self._database = database
        self._consumer = consumer
        self._config = config
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Deliver what is due, until cancelled."""
        async with Connections(self._consumer.url, pool_size=self._consumer.limit) as connections:
            try:
                while True:
                    await self._take(connections)
                    await self._wait()
            finally:
                for task in self._under_way:
                    task.cancel()
                await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _take(self, connections: Connections) -> None:
        """Start as many attempts as there are places."""
        try:
            due = await self._due(self._consumer.limit - len(self._under_way))
        except Unavailable:
            _log.warning("webhooks of %s wait for the database", self._consumer.name)
            return
        for one in due:
            task = asyncio.create_task(self._attempt(connections, one))
            self._under_way.add(task)

    async def _wait(self) -> None:
        """Until a place is free; if there are free ones, until it is time to look again."""
        look_every_s = self._config.look_every.total_seconds()
        if not self._under_way:
            await asyncio.sleep(look_every_s)
            return
        is_full = len(self._under_way) >= self._consumer.limit
        done, self._under_way = await asyncio.wait(
            self._under_way,
            timeout=None if is_full else look_every_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        for task in done:
            task.result()

    async def _due(self, places: int) -> Sequence[Due]:
        async def work(connection: AsyncConnection) -> Sequence[Due]:
            waiting = (
                select(deliveries.c.event_id)
                .where(
                    deliveries.c.consumer == self._consumer.name,
                    deliveries.c.delivered_at.is_(None),
                    deliveries.c.next_at <= func.clock_timestamp(),
                )
                .order_by(deliveries.c.next_at)
                .limit(places)
                .with_for_update(skip_locked=True)
            )
            ids = (await connection.execute(waiting)).scalars().all()
            if not ids:
                return []
            taken = (
                update(deliveries)
                .where(
                    tuple_(deliveries.c.event_id, deliveries.c.consumer).in_(
                        [(event_id, self._consumer.name) for event_id in ids]
                    ),
                    events.c.id == deliveries.c.event_id,
                )
                .values(
                    attempts=deliveries.c.attempts + 1,
                    next_at=func.clock_timestamp() + self._config.timeout + _MARGIN,
                )
                .returning(deliveries.c.event_id, deliveries.c.attempts, events.c.body)
            )
            rows = (await connection.execute(taken)).all()
            return [Due(event_id=row[0], attempts=row[1], body=row[2].encode()) for row in rows]

        return await self._database.transaction(work)

    async def _attempt(self, connections: Connections, due: Due) -> None:
        refused = await self._post(connections, due)
        try:
            await self._book(due, refused)
        except Unavailable:
            _log.warning(
                "the outcome of %s for %s is lost; it comes again", due.event_id, self._consumer.name
            )

    async def _post(self, connections: Connections, due: Due) -> str | None:
        """None when the consumer acknowledged, else why not."""
        signed = sign(due.event_id, due.body, secrets=self._consumer.secrets, now=time.time())
        headers = {**signed, "content-type": "application/json", "user-agent": "chopho-payments"}
        try:
            async with asyncio.timeout(self._config.timeout.total_seconds()):
                answer = await connections.send("POST", "", headers=headers, body=due.body)
        except TimeoutError:
            return "did not answer in time"
        except HttpError as failed:
            return str(failed)
        return None if 200 <= answer.status < 300 else f"answered {answer.status}"

    async def _book(self, due: Due, refused: str | None) -> None:
        now = func.clock_timestamp()
        values = (
            {"delivered_at": now, "last_error": None}
            if refused is None
            else {"next_at": now + self._pause(due.attempts), "last_error": refused[:_ERROR_MOST]}
        )

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(
                update(deliveries)
                .filter_by(event_id=due.event_id, consumer=self._consumer.name, delivered_at=None)
                .values(values)
            )

        await self._database.transaction(work)

    def _pause(self, attempts: int) -> timedelta:
        doubled: timedelta = self._config.first_wait * 2 ** min(attempts - 1, 30)
        spread = random.uniform(0.5, 1)  # noqa: S311 -- not a secret
        return min(doubled, self._config.longest_wait) * spread
