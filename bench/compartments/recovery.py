"""What is back after the worst: through slots, breaker, deadline and pool, to a downstream in its own process."""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import AbstractAsyncContextManager
from typing import Final

from app.clients.http import Connections, HttpError
from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    DeadlineExceeded,
    Guard,
    Refused,
    State,
)
from bench.compartments.processes import downstream

POOL: Final = 10
ANSWERS_MS: Final = 5


class Client:
    """A dependency as the shop guards it, with a cool-down of two seconds."""

    def __init__(self, url: str, *, pool_size: int = POOL, timeout_s: float = 2) -> None:
        self.connections = Connections(url, pool_size=pool_size)
        self.breaker = Breaker(
            "dependency",
            BreakerConfig(
                minimum_number_of_calls=10,
                sliding_window_size=20,
                wait_duration_in_open_state_s=2,
                permitted_number_of_calls_in_half_open_state=3,
            ),
        )
        self.slots = Bulkhead("dependency", BulkheadConfig(max_concurrent_calls=pool_size))
        self._guard = Guard(slots=self.slots, breaker=self.breaker, timeout_s=timeout_s, pool_size=pool_size)

    async def ask(self, wait_ms: int = ANSWERS_MS) -> bool:
        """Whether it succeeded."""
        try:
            async with self._guard.call():
                await self.connections.send("GET", f"/wait/{wait_ms}", headers={})
        except (Refused, DeadlineExceeded, HttpError):
            return False
        return True

    async def ten_normal(self) -> str:
        """How ten calls at once end, and what is held afterwards."""
        began = time.monotonic()
        good = sum(await asyncio.gather(*(self.ask() for _ in range(10))))
        took_ms = (time.monotonic() - began) * 1000
        held = f"slots {self.slots.snapshot().in_use}, connections {self.connections.places.in_use}"
        return f"{good} of 10 normal calls succeed in {took_ms:.0f} ms; still held: {held}"

    async def until_closed(self) -> float:
        """How long the breaker takes to trust it again, asked all the time."""
        began = time.monotonic()
        while not self.is_in(State.CLOSED) and time.monotonic() < began + 60:
            await self.ask()
            await asyncio.sleep(0.02)
        return time.monotonic() - began

    def is_in(self, state: State) -> bool:
        """Whether the breaker is in that state now."""
        return self.breaker.state is state

    def closing(self) -> AbstractAsyncContextManager[Connections]:
        """Closes the connections with the block."""
        return self.connections


async def slow_episode(url: str) -> None:
    """Six seconds of answers that take three, 60 callers, each with half a second."""
    client = Client(url, timeout_s=0.5)
    async with client.closing():
        end, asked = time.monotonic() + 6, 0

        async def caller() -> None:
            nonlocal asked
            while time.monotonic() < end:
                asked += 1
                await client.ask(3000)
                await asyncio.sleep(0.02)

        await asyncio.gather(*(caller() for _ in range(60)))
        counts = client.breaker.snapshot().calls
        healed_s = await client.until_closed()
        print(
            f"\nafter 6 s of slow answers, 60 callers on a pool of {POOL}: {asked} asked, "
            f"{counts['failed']} reached it; the breaker closed again after {healed_s:.1f} s"
        )
        print(f"  {await client.ten_normal()}")


async def cancel_storm(url: str) -> None:
    """4,000 calls, each cancelled after 0 to 12 ms."""
    client, dice = Client(url), random.Random(5)  # noqa: S311 -- random patience is not a secret
    async with client.closing():
        cancelled = 0

        async def caller() -> None:
            nonlocal cancelled
            while cancelled < 4000:
                asking = asyncio.create_task(client.ask())
                await asyncio.wait({asking}, timeout=dice.random() * 0.012)
                cancelled += asking.cancel()
                await asyncio.wait({asking})

        await asyncio.gather(*(caller() for _ in range(POOL)))
        print(f"\nafter {cancelled} calls cancelled at random: breaker {client.breaker.state}")
        print(f"  {await client.ten_normal()}")


async def herd(url: str) -> None:
    """200 calls at the moment when the breaker half opens, while the dependency still hangs."""
    client = Client(url, pool_size=200, timeout_s=0.5)
    async with client.closing():
        while client.is_in(State.CLOSED):
            await asyncio.gather(*(client.ask(60_000) for _ in range(10)))
        while not client.is_in(State.HALF_OPEN):  # noqa: ASYNC110 -- time brings it about, and tells nobody
            await asyncio.sleep(0.01)
        before = await _gets(url)
        await asyncio.gather(*(client.ask(60_000) for _ in range(200)))
        reached = await _gets(url) - before - 1
        print(f"\n200 calls at the half-open moment: {reached} reached the service (3 probes allowed)")
        print(f"  closed again after {await client.until_closed():.1f} s; {await client.ten_normal()}")


async def _gets(url: str) -> int:
    """Requests that reached the stub, this one too."""
    async with Connections(url, pool_size=1) as looking:
        answer = await looking.send("GET", "/counts", headers={})
    return int(json.loads(answer.body)["gets"])


async def main() -> None:
    """One after the other."""
    with downstream() as url:
        await slow_episode(url)
        await cancel_storm(url)
        await herd(url)


if __name__ == "__main__":
    asyncio.run(main())
