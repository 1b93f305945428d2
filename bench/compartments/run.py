"""What a hanging dependency takes along, in compartments of its own and in one shared pool; what comes back after.

``make bench-compartments``. Everything talks to 127.0.0.1, is bounded and ends by itself, in six minutes.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from app.planning.places import longest_wait_s, mean_wait_s
from bench.compartments import pages, product_pages, recovery
from bench.compartments.front import PATIENCE_S, POOL
from bench.compartments.processes import downstream, front

PAYERS: Final = 60
READERS: Final = 8
READ_PAUSE_S: Final = 0.05
HANGS_MS: Final = 600_000
LOOK_EVERY_S: Final = 0.2


@dataclass
class Seen:
    """What the clients of one route saw in one phase."""

    took_s: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def note(self, status: int, took_s: float) -> None:
        """One answer."""
        self.took_s.append(took_s)
        self.statuses[status] += 1

    def quantile_ms(self, share: float) -> float:
        """That share of the answers came faster."""
        return sorted(self.took_s)[min(int(len(self.took_s) * share), len(self.took_s) - 1)] * 1000


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """When a look at the replica first showed that a resource is full, and the first failed request."""

    full_after_s: float | None
    errors_then: float
    first_error_after_s: float | None
    row: dict[str, Any] | None


async def phase(session: aiohttp.ClientSession, url: str, pay_ms: int, lasting_s: float) -> Seen:
    """Readers and payers at once; what the readers saw. Whoever still waits at the end is waited for."""
    seen, end = Seen(), time.monotonic() + lasting_s

    async def client(path: str, pause_s: float, keep: Seen | None) -> None:
        while time.monotonic() < end:
            began = time.monotonic()
            async with session.get(url + path) as answer:
                await answer.read()
            if keep is not None:
                keep.note(answer.status, time.monotonic() - began)
            await asyncio.sleep(pause_s)

    payers = [asyncio.create_task(client(f"/pay?ms={pay_ms}", 1, None)) for _ in range(PAYERS)]
    await asyncio.sleep(0.3)  # the payers are there before the readers that are counted
    await asyncio.gather(*(client("/reviews?ms=5", READ_PAUSE_S, seen) for _ in range(READERS)))
    for payer in payers:
        payer.cancel()
    await asyncio.gather(*payers, return_exceptions=True)
    return seen


async def notice(session: aiohttp.ClientSession, url: str, within_s: float) -> Noticed:
    """Look at the replica's own figures while it happens."""
    began = time.monotonic()
    before = await _errors(session, url)
    full_after_s, first_error_after_s, errors_then, row = None, None, 0.0, None
    while (passed := time.monotonic() - began) < within_s:
        errors = await _errors(session, url) - before
        rows = (await _json(session, f"{url}/internal/compartments"))["compartments"]
        full = next((each for each in rows if each["kind"] in ("pool", "slots") and _is_full(each)), None)
        if full is not None and full_after_s is None:
            full_after_s, errors_then = passed, errors
        if full is not None:
            row = full
        if errors and first_error_after_s is None:
            first_error_after_s = passed
        await asyncio.sleep(LOOK_EVERY_S)
    return Noticed(
        full_after_s=full_after_s, errors_then=errors_then, first_error_after_s=first_error_after_s, row=row
    )


def _is_full(row: dict[str, Any]) -> bool:
    return bool(row["in_use"] >= row["size"])


async def _json(session: aiohttp.ClientSession, url: str) -> Any:  # noqa: ANN401 -- whatever is there
    async with session.get(url) as answer:
        return await answer.json()


async def _errors(session: aiohttp.ClientSession, url: str) -> float:
    """Requests answered with 5xx so far, as /metrics counts them."""
    async with session.get(f"{url}/metrics") as answer:
        lines = (await answer.text()).splitlines()
    counted = (line for line in lines if line.startswith("http_requests_total{") and 'status="5xx"' in line)
    return sum(float(line.rpartition(" ")[2]) for line in counted)


async def measure(wiring: str, rounds: int, healthy_s: float, hanging_s: float) -> None:
    """Healthy and hanging in turn, so that a slow moment of the machine meets both; print what readers saw."""
    healthy, hanging = [], []
    noticed: Noticed | None = None
    with downstream() as behind, front(wiring, behind) as url:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            await phase(session, url, 10, 2)  # warm up
            for _ in range(rounds):
                seen, _ = await asyncio.gather(
                    phase(session, url, 10, healthy_s), notice(session, url, healthy_s)
                )
                healthy.append(seen)
                seen, found = await asyncio.gather(
                    phase(session, url, HANGS_MS, hanging_s), notice(session, url, min(hanging_s, 8))
                )
                hanging.append(seen)
                noticed = noticed or found
    _print(wiring, healthy, hanging, healthy_s, hanging_s)
    if noticed is not None:
        _print_noticed(noticed)
    if wiring == "shared":
        _print_waits([took for seen in hanging for took in seen.took_s])


def _print(
    wiring: str, healthy: Sequence[Seen], hanging: Sequence[Seen], healthy_s: float, hanging_s: float
) -> None:
    words = {"own": f"two compartments of {POOL}", "shared": f"one pool of {2 * POOL} for both"}
    print(f"\n{words[wiring]}: the unrelated route while {PAYERS} clients ask the other dependency")
    print(f"  (medians of {len(healthy)} rounds)" if len(healthy) > 1 else "  (one round)")
    print(f"  {'':22}{'requests/s':>11}{'p50 ms':>10}{'p99 ms':>10}  answers")
    figures = []
    for name, rounds, lasting_s in (("it answers", healthy, healthy_s), ("it hangs", hanging, hanging_s)):
        rate = statistics.median(len(seen.took_s) / lasting_s for seen in rounds)
        p50, p99 = (statistics.median(seen.quantile_ms(share) for seen in rounds) for share in (0.5, 0.99))
        statuses = sum((seen.statuses for seen in rounds), Counter[int]())
        print(f"  {name:22}{rate:>11.1f}{p50:>10.1f}{p99:>10.1f}  {dict(statuses)}")
        figures.append((rate, p99))
    (rate, p99), (kept, slower) = figures
    print(f"  kept {kept / rate:.1%} of the throughput; p99 is {slower / p99:.2f} times what it was")


def _print_noticed(noticed: Noticed) -> None:
    if noticed.full_after_s is None or noticed.row is None:
        print("  no resource was seen full")
        return
    error = noticed.first_error_after_s
    print(
        f"  saturation: {noticed.row['name']} seen full after {noticed.full_after_s:.1f} s, "
        f"with {noticed.errors_then:g} requests answered 5xx until then; "
        f"the first was {'never' if error is None else f'after {error:.1f} s'}"
    )


def _print_waits(took_s: Sequence[float]) -> None:
    """Pool ÷ holding time, and what the readers waited in fact."""
    places, waiting = 2 * POOL, PAYERS - 2 * POOL
    mean, longest = (
        mean_wait_s(places, PATIENCE_S, waiting=waiting),
        longest_wait_s(places, PATIENCE_S, waiting=waiting),
    )
    waited = [took for took in took_s if took > 1]
    print(
        f"  predicted wait ({places} places ÷ {PATIENCE_S:g} s, {waiting} waiting): "
        f"{mean:.1f} s spread evenly, {longest:.1f} s at worst"
    )
    if waited:
        print(
            f"  measured: {statistics.median(waited):.1f} s in the middle, {max(waited):.1f} s at worst "
            f"({len(waited)} of {len(took_s)} requests)"
        )


async def main() -> None:
    """All of it."""
    await measure("own", rounds=6, healthy_s=5, hanging_s=5)
    await measure("shared", rounds=1, healthy_s=5, hanging_s=30)
    await recovery.main()
    await pages.main()
    await product_pages.main()


if __name__ == "__main__":
    asyncio.run(main())
