"""How the session store answers, seen from outside it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from functools import cache
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.observability.compartments import Compartment, Usage
from app.observability.logs import current_request
from app.observability.meter import Meter
from app.sessions import Changes, Device, Sessions
from app.sessions.errors import Refused, StoreUnavailable
from app.sessions.ports import Seal, SessionStore
from app.sessions.records import Claim, Committed, Draft, Ended, Record

T = TypeVar("T")

# A healthy store answers within a millisecond, and is given up after 300.
_BUCKETS_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5)


class SessionMetrics:
    """Counts and times what stores are asked."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._operations = Counter(
            "session_operations",
            "Operations on the session store; outcome: ok, ended, refused, unavailable or cancelled.",
            ("operation", "outcome"),
            registry=registry,
        )
        self._durations = Histogram(
            "session_operation_duration_seconds",
            "How long the session store took to answer.",
            ("operation",),
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._meter = Meter()
        self._count = cache(self._operations.labels)
        self._time = cache(self._durations.labels)

    def compartment(self, sessions: Sessions) -> Compartment:
        """The connections to the session stores: one each, on which operations follow one another closely."""

        def usage() -> Usage:
            held, size = self._meter.holding(), len(sessions.stores)
            return Usage(
                in_use=min(self._meter.in_use, size), holding_s=held.mean_s, rate_per_s=held.rate_per_s
            )

        return Compartment(
            name="session store",
            kind="pool",
            size=len(sessions.stores),
            shared_by=("every request that reads or writes its session",),
            dies="log-in, cart and checkout: 503 in 300 ms; pages without a session go on",
            usage=usage,
        )

    async def measure(self, operation: str, asked: Awaitable[T]) -> T:
        """Await the answer."""
        began = time.perf_counter()
        outcome = "cancelled"
        self._meter.take()
        try:
            answer = await asked
            outcome = _outcome(answer)
        except StoreUnavailable:
            outcome = "unavailable"
            raise
        except Refused:
            outcome = "refused"
            raise
        finally:
            self._meter.give()
            self._count(operation, outcome).inc()
            self._time(operation).observe(time.perf_counter() - began)
        return answer


class MeasuredStore:
    """A `SessionStore` that counts what passes through, and tells the request's log whose session it is."""

    def __init__(self, store: SessionStore, metrics: SessionMetrics) -> None:
        self._store = store
        self._metrics = metrics
        self.kind: str = store.kind
        self.concurrent_writes: bool = store.concurrent_writes
        self.seal: Seal = store.seal

    async def open(self) -> None:
        """Get ready."""
        await self._store.open()

    async def close(self) -> None:
        """Give everything back."""
        await self._store.close()

    async def load(self, ticket: str, *, presented: bool = True) -> Record | Ended:
        """The session."""
        return _noted(await self._metrics.measure("load", self._store.load(ticket, presented=presented)))

    async def create(self, draft: Draft) -> Record:
        """A new session."""
        record = await self._metrics.measure("create", self._store.create(draft))
        _noted(record)
        return record

    async def commit(self, ticket: str, changes: Changes) -> Committed | Ended | Refused:
        """All of the changes or nothing."""
        return await self._metrics.measure("commit", self._store.commit(ticket, changes))

    async def claim(self, ticket: str) -> Claim | Ended:
        """The right to replace the session."""
        claim = await self._metrics.measure("claim", self._store.claim(ticket))
        if isinstance(claim, Claim):
            _noted(claim.record)
        return claim

    async def settle(self, claim: Claim) -> bool:
        """End the claimed session."""
        return await self._metrics.measure("settle", self._store.settle(claim))

    async def release(self, claim: Claim) -> None:
        """Give the claim back."""
        await self._metrics.measure("release", self._store.release(claim))

    async def end(self, ticket: str) -> None:
        """End a session."""
        await self._metrics.measure("end", self._store.end(ticket))

    async def end_one(self, user: str, handle: str) -> bool:
        """End the user's session with that handle."""
        return await self._metrics.measure("end_one", self._store.end_one(user, handle))

    async def end_again(self, handle: str) -> None:
        """End a session again."""
        await self._metrics.measure("end_again", self._store.end_again(handle))

    def handle(self, ticket: str) -> str:
        """What names a session."""
        return self._store.handle(ticket)

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        """End every session of the user."""
        return await self._metrics.measure("end_all", self._store.end_all(user, epoch=epoch, own=own))

    async def epoch(self, user: str) -> int:
        """The user's epoch."""
        return await self._metrics.measure("epoch", self._store.epoch(user))

    async def remembers(self) -> bool:
        """Whether it still knows what ended sessions."""
        return await self._metrics.measure("remembers", self._store.remembers())

    async def remember(self) -> None:
        """Revocations were given again."""
        await self._metrics.measure("remember", self._store.remember())

    async def count(self) -> int | None:
        """How many sessions live here."""
        return await self._metrics.measure("count", self._store.count())

    async def devices(self, user: str, *, current: str | None) -> Sequence[Device]:
        """The user's live sessions."""
        return await self._metrics.measure("devices", self._store.devices(user, current=current))


def measured(sessions: Sessions, metrics: SessionMetrics) -> Sessions:
    """The same sessions in the same stores, measured."""
    return Sessions([MeasuredStore(store, metrics) for store in sessions.stores], sessions.config)


def _outcome(answer: object) -> str:
    if isinstance(answer, Ended):
        return "ended"
    return "refused" if isinstance(answer, Refused) else "ok"


def _noted(found: Record | Ended) -> Record | Ended:
    request = current_request.get()
    if request is not None and isinstance(found, Record) and found.user is not None:
        request["account"] = found.user
    return found
