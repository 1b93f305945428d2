"""A composed product, its services asked side by side and one after the other, answering at once and after 50 ms."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

import aiohttp

from bench.compartments.pages import fleet
from bench.gateway.processes import Server, replica, service

_NONE: Final = b'{"items":[],"total":0,"page":1,"page_size":10'
BODIES: Final = {
    "reviews": _NONE + b',"average":null}',
    "recommendations": _NONE + b',"refreshed_at":null}',
    "inventory": _NONE + b',"as_of":"2026-01-01T00:00:00+00:00"}',
}
"""What a service says that has nothing to say."""
MODES: Final = ("sequential", "parallel")
CONNECTIONS: Final = (1, 100)
SLOW_MS: Final = 50

# The author's figures, one JVM: parallel ÷ sequential requests a second, by slower services and connections.
SEED: Final = {
    (False, 1): 10_629 / 6_893,
    (False, 100): 45_627 / 45_849,
    (True, 1): 3.0,
    (True, 100): 1_882 / 632,
}


@dataclass(slots=True)
class Mode:
    """What the rounds of one mode saw."""

    took_ms: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    lacking: Counter[str] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        """Whole answers a second, the median of the rounds."""
        return statistics.median(self.rate)


async def measure(replica: Server, *, ms: int, rounds: int, seconds: float) -> None:
    """Every pair of columns; print each with its ratio."""
    url = f"http://127.0.0.1:{replica.port}"
    async with aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get("/api/v1/products") as answer:
            slug = (await answer.json())["items"][0]["slug"]
        path = f"/api/compose/product/{slug}"
        await _round(session, path, Mode(), connections=8, seconds=2)  # warm up
        for connections in CONNECTIONS:
            modes = {name: Mode() for name in MODES}
            for _ in range(rounds):
                for name, mode in modes.items():
                    asked, before, answers = f"{path}?mode={name}", replica.cpu_s(), mode.lacking.total()
                    await _round(session, asked, mode, connections=connections, seconds=seconds)
                    used = (replica.cpu_s() - before) / (mode.lacking.total() - answers)
                    mode.cpu_ms.append(used * 1000)
            _tell(modes, is_slow=ms > 0, connections=connections)


async def _round(
    session: aiohttp.ClientSession, path: str, mode: Mode, *, connections: int, seconds: float
) -> None:
    began = time.monotonic()
    answers = 0

    async def client() -> None:
        nonlocal answers
        while (asked := time.monotonic()) < began + seconds:
            async with session.get(path) as answer:
                await answer.read()
            lacks = answer.headers.get("x-degraded", "nothing") if answer.status == 200 else "all of it"
            mode.lacking[lacks] += 1
            if lacks == "nothing":
                mode.took_ms.append((time.monotonic() - asked) * 1000)
                answers += 1

    await asyncio.gather(*(client() for _ in range(connections)))
    mode.rate.append(answers / (time.monotonic() - began))


def _tell(modes: Mapping[str, Mode], *, is_slow: bool, connections: int) -> None:
    services = f"that answer after {SLOW_MS} ms" if is_slow else "that answer at once"
    print(f"  services {services}, {connections} connection{'s' if connections > 1 else ''}")
    for name, mode in modes.items():
        p50 = statistics.median(mode.took_ms)
        cpu = statistics.median(mode.cpu_ms)
        print(
            f"    {name:12}{mode.per_second:>8.1f} req/s{p50:>9.1f} ms{cpu:>7.1f} ms of CPU"
            f"   lacking {dict(mode.lacking)}"
        )
    ratio = modes["parallel"].per_second / modes["sequential"].per_second
    print(f"    parallel ÷ sequential: {ratio:.2f} (seed: {SEED[is_slow, connections]:.2f})")


def compose(*, rounds: int, seconds: float) -> None:
    """One replica with a catalogue, between services that cost nothing and with slots for every client."""
    print(f"\na composed product of three services, medians of {rounds} rounds of {seconds:g} s")
    slots = {f"{name.upper()}_POOL_SIZE": "128" for name in BODIES}
    with fleet() as shop:
        for ms in (0, SLOW_MS):
            with ExitStack() as stack:
                urls = {
                    name: f"http://127.0.0.1:{stack.enter_context(service(body=body, ms=ms)).port}"
                    for name, body in BODIES.items()
                }
                given = {"DATABASE_URL": shop["database"]["url"], "DATABASE_POOL_SIZE": "30", **slots}
                one = stack.enter_context(replica(shop["redis"]["url"], urls, **given))
                asyncio.run(measure(one, ms=ms, rounds=rounds, seconds=seconds))
