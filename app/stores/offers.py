"""Names and prices in the process: a snapshot of the catalogue, at most 2 s old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from app.shop.cart import Offers
from app.shop.catalog import Offer, Sku


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    offer: Offer | None  # None: the shop does not sell it
    read_at: float


@dataclass(slots=True, kw_only=True)
class _Batch:
    """SKUs that one query asks for; it takes more until it starts."""

    skus: dict[Sku, None] = field(default_factory=dict)
    task: asyncio.Task[Mapping[Sku, Offer]] | None = None


class OffersSnapshot:
    """The offers of `source`, each kept for `max_age_s`; call it as the cart's `Offers`.

    Age counts from before the query, so nothing older is ever shown. What is missing is asked for in one
    query at a time, however many requests want it; a request that leaves does not end the query of the
    others. At most `most` SKUs are kept. Raises what `source` raises, to all who waited for it.
    """

    def __init__(
        self,
        source: Offers,
        *,
        max_age_s: float = 2.0,
        most: int = 20_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._max_age_s = max_age_s
        self._most = most
        self._clock = clock
        self._entries: dict[Sku, _Entry] = {}  # the oldest first
        self._reading = _Batch()
        self._next = _Batch()

    def __len__(self) -> int:
        """How many SKUs are kept."""
        return len(self._entries)

    async def __call__(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        """The offers of those SKUs that the shop sells."""
        oldest = self._clock() - self._max_age_s
        found: dict[Sku, Offer] = {}
        missing: dict[Sku, asyncio.Task[Mapping[Sku, Offer]]] = {}
        for sku in skus:
            entry = self._entries.get(sku)
            if entry is None or entry.read_at < oldest:
                missing[sku] = self._ask(sku)
            elif entry.offer is not None:
                found[sku] = entry.offer
        for sku, answer in missing.items():
            offers = await asyncio.shield(answer)
            if sku in offers:
                found[sku] = offers[sku]
        return found

    def forget(self, skus: Iterable[Sku]) -> None:
        """Look these up anew when they are asked for next."""
        for sku in skus:
            self._entries.pop(sku, None)

    def _ask(self, sku: Sku) -> asyncio.Task[Mapping[Sku, Offer]]:
        """The query that is on its way with this SKU, or else the next one."""
        running = self._reading
        if running.task is not None and not running.task.done() and sku in running.skus:
            return running.task
        self._next.skus[sku] = None
        if self._next.task is None:
            self._next.task = asyncio.get_running_loop().create_task(self._read(self._next, running.task))
            self._next.task.add_done_callback(_seen)
        return self._next.task

    async def _read(
        self, batch: _Batch, before: asyncio.Task[Mapping[Sku, Offer]] | None
    ) -> Mapping[Sku, Offer]:
        """Ask for everything that was wanted until the query before has ended."""
        if before is not None:
            await asyncio.wait({before})
        self._reading, self._next = batch, _Batch()
        read_at = self._clock()
        offers = await self._source(tuple(batch.skus))
        for sku in batch.skus:
            self._keep(sku, _Entry(offer=offers.get(sku), read_at=read_at))
        return offers

    def _keep(self, sku: Sku, entry: _Entry) -> None:
        self._entries.pop(sku, None)
        while len(self._entries) >= self._most:
            del self._entries[next(iter(self._entries))]
        self._entries[sku] = entry


def _seen(answer: asyncio.Task[Mapping[Sku, Offer]]) -> None:
    """Mark a failure as seen, also when everyone who waited has left."""
    if not answer.cancelled():
        answer.exception()
