"""Shoppers who keep their connections and count what goes wrong."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx


@dataclass
class Tally:
    """What the clients saw. `cut` are answers that broke off after they had begun."""

    statuses: Counter[int] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    cut: int = 0

    @property
    def answered(self) -> int:
        return sum(self.statuses.values())


class Load:
    """A block under load: ``with Load(url, per_second=50) as load: …``; `load.tally` is final after it."""

    def __init__(
        self,
        url: str,
        *,
        per_second: float = 50,
        clients: int = 10,
        method: str = "GET",
        new_connections: bool = False,
    ) -> None:
        self._url, self._method = url, method
        self._clients, self._pause_s = clients, clients / per_second
        self._new_connections = new_connections
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self.tally = Tally()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def wait_for_more(self, count: int) -> None:
        """Return after so many more answers; gives up when there are none."""
        enough = self.tally.answered + count
        deadline = time.monotonic() + 30
        while self.tally.answered < enough and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.tally.answered >= enough, self.tally

    async def _run(self) -> None:
        await asyncio.gather(*(self._shopper() for _ in range(self._clients)))

    async def _shopper(self) -> None:
        limits = httpx.Limits(max_keepalive_connections=0) if self._new_connections else httpx.Limits()
        async with httpx.AsyncClient(timeout=30, limits=limits) as client:
            while not self._over.is_set():
                await self._ask(client)
                await asyncio.sleep(self._pause_s)

    async def _ask(self, client: httpx.AsyncClient) -> None:
        begun = False
        try:
            async with client.stream(self._method, self._url) as answer:
                begun = True
                await answer.aread()
        except httpx.HTTPError as error:
            if begun:
                self.tally.cut += 1
            else:
                self.tally.failed.append(repr(error))
            return
        self.tally.statuses[answer.status_code] += 1
