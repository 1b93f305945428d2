"""`python -m bench.sessions.swap`: Redis to JWT and back under load, three replicas rolled one by one, three times.

First every replica learns to serve the other kind, then the kinds change places; and the same way back. Shoppers add
to their carts and look at them all the while, on any replica. Counted: log-outs, lost lines, failed requests.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, Final

import httpx

from bench.sessions.peers import PEERS, running
from bench.sessions.servers import free_port, redis_running

REPLICAS: Final = 3
_OURS: Final = next(peer for peer in PEERS if peer.name == "ours")
_LOG_IN_EVERY: Final = 30
"""Looks, on average: a log-in moves a session to where new ones go."""
_IN_FLIGHT_S: Final = 0.5
"""After a replica left the rotation, before it is ended."""


class Rolled:
    """Three replicas as processes, each replaced by one with other settings before it ends."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._stacks: list[ExitStack] = []
        self.urls: list[str] = []

    async def roll(self, url: str, also_accept: str | None) -> None:
        """Replace all of them, one by one."""
        for at in range(REPLICAS):
            stack, port = ExitStack(), free_port()
            place = running(_OURS, port, url, self._folder / str(port), also_accept=also_accept)
            await asyncio.to_thread(stack.enter_context, place)
            old = self._stacks[at : at + 1]
            self._stacks[at : at + 1], self.urls[at : at + 1] = [stack], [f"http://127.0.0.1:{port}"]
            if old:
                await asyncio.sleep(_IN_FLIGHT_S)
                await asyncio.to_thread(old[0].close)
            await asyncio.sleep(self._seconds / REPLICAS)

    def close(self) -> None:
        """End them all."""
        for stack in self._stacks:
            stack.close()


class Shopper:
    """One browser; knows what must be in its cart."""

    def __init__(self, user: str, fleet: Rolled, seen: Counter[str]) -> None:
        self._user = user
        self._fleet = fleet
        self._seen = seen
        self._client = httpx.AsyncClient(timeout=20)
        self._asked = 0
        self._lines: Counter[str] = Counter()

    async def shop(self, over: asyncio.Event) -> None:
        """Log in once, then add and look."""
        async with self._client:
            await self._get(f"/login?user={self._user}")
            while not over.is_set():
                sku = f"SKU-{self._asked % 7}"
                if await self._get(f"/add?sku={sku}") is not None:
                    self._lines[f"line:{sku}"] += 1
                await self._look()
                if random.randrange(_LOG_IN_EVERY) == 0:
                    await self._get(f"/login?user={self._user}")

    async def _look(self) -> None:
        who, cart = await self._get("/me"), await self._get("/cart")
        if who is not None and who != {"user": self._user}:
            self._seen["log-outs"] += 1
        if cart is not None and {line["sku"]: line["quantity"] for line in cart} != self._lines:
            self._seen["lost lines"] += 1
        kind = self._client.cookies["sid"].partition(".")[0]
        self._seen[f"looks with {kind}"] += 1

    async def _get(self, path: str) -> Any:  # noqa: ANN401 -- JSON
        self._asked += 1
        answer = await self._client.get(self._fleet.urls[self._asked % len(self._fleet.urls)] + path)
        self._seen["requests"] += 1
        if answer.status_code != 200:
            self._seen["failed requests"] += 1
            return None
        return answer.json()


async def run(redis_url: str, *, shoppers: int, seconds: float) -> Counter[str]:
    """What the shoppers saw."""
    tokens, seen, over = f"jwt+{redis_url}", Counter[str](), asyncio.Event()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fleet = Rolled(folder, seconds)
        stack.callback(fleet.close)
        await fleet.roll(redis_url, None)
        people = [Shopper(f"user:{number}", fleet, seen) for number in range(shoppers)]
        shopping = [asyncio.create_task(one.shop(over)) for one in people]
        # At the end both kinds are still served: whoever holds a token keeps it until the next log-in.
        for main_url, other in ((redis_url, tokens), (tokens, redis_url), (redis_url, tokens)):
            await fleet.roll(main_url, other)
            newcomers = [
                Shopper(f"user:{len(shopping)}-{number}", fleet, seen) for number in range(shoppers // 2)
            ]
            shopping += [asyncio.create_task(one.shop(over)) for one in newcomers]
        await asyncio.sleep(seconds)
        over.set()
        await asyncio.gather(*shopping)
    return seen


def main() -> None:
    """Roll, count, judge."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--shoppers", type=int, default=10)
    words.add_argument("--seconds", type=float, default=2.0, help="load between two steps (default 2)")
    given = words.parse_args()
    with redis_running() as server:
        began = time.perf_counter()
        seen = asyncio.run(run(server.url, shoppers=given.shoppers, seconds=given.seconds))
    print(
        f"Redis → JWT → Redis, {REPLICAS} replicas rolled one by one, in {time.perf_counter() - began:.0f} s"
    )
    for what in sorted({*seen, "log-outs", "lost lines", "failed requests"}):
        print(f"  {what:<24} {seen[what]:>7,}")
    sys.exit(1 if seen["log-outs"] or seen["lost lines"] or seen["failed requests"] else 0)


if __name__ == "__main__":
    main()
