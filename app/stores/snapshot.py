"""Answers kept in the process for a moment, and asked for together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry(Generic[Value]):
    value: Value | None  # None: there is none
    read_at: float


@dataclass(slots=True, kw_only=True)
class _Batch(Generic[Key, Value]):
    """Keys that one query asks for; it takes more until it starts."""

    keys: dict[Key, None] = field(default_factory=dict)
    task: asyncio.Task[Mapping[Key, Value]] | None = None


class Snapshot(Generic[Key, Value]):
    """What `source` answers, each key kept for `max_age_s`; called as `source` is.

    Age counts from before the query, so nothing older is ever shown. What is missing is asked for in one
    query at a time, however many requests want it; a request that leaves does not end the query of the
    others. At most `most` keys are kept. Raises what `source` raises, to all who waited for it.
    """

    def __init__(
        self,
        source: Callable[[Iterable[Key]], Awaitable[Mapping[Key, Value]]],
        *,
        max_age_s: float = 2.0,
        most: int = 20_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._max_age_s = max_age_s
        self._most = most
        self._clock = clock
        self._entries: dict[Key, _Entry[Value]] = {}  # the oldest first
        self._reading: _Batch[Key, Value] = _Batch()
        self._next: _Batch[Key, Value] = _Batch()

    def __len__(self) -> int:
        """How many keys are kept."""
        return len(self._entries)

    async def __call__(self, keys: Iterable[Key]) -> Mapping[Key, Value]:
        """The values of those keys that have one."""
        oldest = self._clock() - self._max_age_s
        found: dict[Key, Value] = {}
        missing: dict[Key, asyncio.Task[Mapping[Key, Value]]] = {}
        for key in keys:
            entry = self._entries.get(key)
            if entry is None or entry.read_at < oldest:
                missing[key] = self._ask(key)
            elif entry.value is not None:
                found[key] = entry.value
        for key, answer in missing.items():
            values = await asyncio.shield(answer)
            if key in values:
                found[key] = values[key]
        return found

    def forget(self, keys: Iterable[Key]) -> None:
        """Look these up anew when they are asked for next."""
        for key in keys:
            self._entries.pop(key, None)

    def _ask(self, key: Key) -> asyncio.Task[Mapping[Key, Value]]:
        """The query that is on its way with this key, or else the next one."""
        running = self._reading
        if running.task is not None and not running.task.done() and key in running.keys:
            return running.task
        self._next.keys[key] = None
        if self._next.task is None:
            self._next.task = asyncio.get_running_loop().create_task(self._read(self._next, running.task))
            self._next.task.add_done_callback(_seen)
        return self._next.task

    async def _read(
        self, batch: _Batch[Key, Value], before: asyncio.Task[Mapping[Key, Value]] | None
    ) -> Mapping[Key, Value]:
        """Ask for everything that was wanted until the query before has ended."""
        if before is not None:
            await asyncio.wait({before})
        self._reading, self._next = batch, _Batch()
        read_at = self._clock()
        values = await self._source(tuple(batch.keys))
        for key in batch.keys:
            self._keep(key, _Entry(value=values.get(key), read_at=read_at))
        return values

    def _keep(self, key: Key, entry: _Entry[Value]) -> None:
        self._entries.pop(key, None)
        while len(self._entries) >= self._most:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = entry


def _seen(answer: asyncio.Task[object]) -> None:
    """Mark a failure as seen, also when everyone who waited has left."""
    if not answer.cancelled():
        answer.exception()
