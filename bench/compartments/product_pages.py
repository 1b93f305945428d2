"""One helpful service hangs, and 30 clients look at a product: their pages, everybody else's, and how soon it heals."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from app.clients.faults import FaultSwitches
from app.fleet.state import StateDirectory
from bench.compartments.pages import fleet

LOOKERS: Final = 30
LOOK_EVERY_S: Final = 1.0
READERS: Final = 8
READ_PAUSE_S: Final = 0.05
ROUNDS: Final = 4
PHASE_S: Final = 5.0
HELPFUL: Final = ("reviews", "recommendations", "inventory")
UNRELATED: Final = "/api/v1/cart"


@dataclass
class Phase:
    """What both kinds of clients saw."""

    read_ms: list[float] = field(default_factory=list)
    looked_ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)


async def phase(session: aiohttp.ClientSession, slug: str, lasting_s: float) -> Phase:
    """Lookers and readers side by side; who still waits at the end is waited for."""
    seen, end = Phase(), time.monotonic() + lasting_s

    async def looker(number: int) -> None:
        await asyncio.sleep(number * LOOK_EVERY_S / LOOKERS)
        while time.monotonic() < end:
            began = time.monotonic()
            async with session.get(f"/san-pham/{slug}") as answer:
                await answer.read()
            seen.looked_ms.append((time.monotonic() - began) * 1000)
            seen.statuses[answer.status] += 1
            seen.lacking[answer.headers.get("x-degraded", "nothing")] += 1
            await asyncio.sleep(LOOK_EVERY_S)

    async def reader() -> None:
        while time.monotonic() < end:
            began = time.monotonic()
            async with session.get(UNRELATED) as answer:
                await answer.read()
            seen.read_ms.append((time.monotonic() - began) * 1000)
            seen.statuses[answer.status] += 1
            await asyncio.sleep(READ_PAUSE_S)

    await asyncio.gather(*(looker(number) for number in range(LOOKERS)), *(reader() for _ in range(READERS)))
    return seen


async def healed_after_s(session: aiohttp.ClientSession, slug: str) -> float:
    """Until ten pages in a row lack nothing."""
    began, whole = time.monotonic(), 0
    while whole < 10:
        async with session.get(f"/san-pham/{slug}") as answer:
            await answer.read()
        whole = 0 if "x-degraded" in answer.headers else whole + 1
        await asyncio.sleep(0.1)
    return time.monotonic() - began


async def measure(session: aiohttp.ClientSession, slug: str, name: str, switches: FaultSwitches) -> None:
    """Healthy and hanging in turn, so that a slow moment of the machine meets both."""
    healthy, hanging, heals = [], [], []
    for _ in range(ROUNDS):
        healthy.append(await phase(session, slug, PHASE_S))
        switches.turn_on({"endpoint": "/v1/*", "mode": "hang", "for_s": 120})
        hanging.append(await phase(session, slug, PHASE_S))
        switches.turn_off()
        heals.append(await healed_after_s(session, slug))
    rates = [
        statistics.median(len(seen.read_ms) / PHASE_S for seen in phases) for phases in (healthy, hanging)
    ]
    print(f"\n{name} hangs, {LOOKERS} clients look at a product each second (medians of {ROUNDS} rounds)")
    for words, phases in (("it answers", healthy), ("it hangs", hanging)):
        print(f"  {words:12}{_told(phases)}")
    print(f"  unrelated route: {rates[0]:.1f} and {rates[1]:.1f} requests/s, kept {rates[1] / rates[0]:.1%}")
    print(
        f"  whole again {statistics.median(heals):.1f} s after the end of the fault, {max(heals):.1f} s at worst"
    )


def _told(phases: list[Phase]) -> str:
    looked = sorted(took for seen in phases for took in seen.looked_ms)
    statuses = sum((seen.statuses for seen in phases), Counter[int]())
    lacking = sum((seen.lacking for seen in phases), Counter[str]())
    return (
        f"pages p50 {statistics.median(looked):6.1f} ms, slowest {looked[-1]:6.1f} ms; "
        f"answers {dict(statuses)}; lacking {dict(lacking)}"
    )


async def main() -> None:
    """Each helpful service in turn."""
    with fleet() as shop:
        replica: str = shop["replicas"][0]["url"]
        host = {"Host": urlsplit(shop["url"]).netloc}
        urls: dict[str, str] = {service["name"]: service["url"] for service in shop["services"]}
        token = StateDirectory(Path(shop["state"])).secrets().faults_token
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(replica, connector=connector, headers=host) as session:
            async with session.get("/api/v1/products") as answer:
                listed: dict[str, Any] = await answer.json()
            slug: str = listed["items"][0]["slug"]
            await phase(session, slug, 2)
            for name in HELPFUL:
                await measure(session, slug, name, FaultSwitches(url=urls[name], token=token))


if __name__ == "__main__":
    asyncio.run(main())
