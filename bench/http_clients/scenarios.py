"""What is asked of one client library, in a process of its own: ``scenarios.py LIBRARY`` prints one JSON object.

Every scenario is bounded, talks to 127.0.0.1 only, and ends with the same question: do ten normal calls
succeed within two seconds?
"""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import uvloop

HERE = Path(__file__).parent


class Client(Protocol):
    """What an adapter offers."""

    async def get(self, url: str) -> bytes: ...
    async def post(self, url: str, body: bytes) -> bytes: ...
    async def close(self) -> None: ...


class Peer:
    """The stub in its process."""

    def __init__(self, *, port: int = 0, idle_ms: int | None = None) -> None:
        command = [sys.executable, str(HERE / "stub.py"), "--port", str(port)]
        command += [] if idle_ms is None else ["--idle-ms", str(idle_ms)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def end(self) -> None:
        """Kill it, as a crash would."""
        self._process.kill()
        self._process.wait()


@asynccontextmanager
async def between(library: str, pool: int, peer: Peer) -> AsyncIterator[Client]:
    """A client of the library, closed in the end whatever state it is in."""
    client: Client = importlib.import_module(f"adapters.with_{library}").Client(pool)
    try:
        yield client
    finally:
        try:
            async with asyncio.timeout(5):
                await client.close()
        except Exception as error:
            print(f"{library}: closing failed: {error!r}", file=sys.stderr)
        peer.end()


async def ten_normal(client: Client, url: str) -> int:
    """How many of ten normal calls succeed within two seconds."""
    calls = [asyncio.create_task(client.get(f"{url}/fast")) for _ in range(10)]
    done, late = await asyncio.wait(calls, timeout=2)
    for call in late:
        call.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return sum(call.exception() is None for call in done)


async def recovery(client: Client, url: str) -> dict[str, float]:
    """Ten normal calls now; if any fails, how long until all ten succeed (-1: not within 15 s)."""
    began = time.monotonic()
    first = now = await ten_normal(client, url)
    while now < 10 and time.monotonic() < began + 15:
        now = await ten_normal(client, url)
    healed_s = time.monotonic() - began if now == 10 else -1
    return {"ten_normal": first, "healed_after_s": 0 if first == 10 else healed_s}


async def swarm(count: int, work: Callable[[], Awaitable[None]]) -> None:
    """The same work so many times at once."""
    await asyncio.gather(*(work() for _ in range(count)))


async def hop(library: str) -> dict[str, float]:
    """CPU of this process and wall time for one small GET, 16 at a time; the median of five rounds."""
    peer = Peer()
    async with between(library, 16, peer) as client:
        left = 0

        async def worker() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await client.get(f"{peer.url}/fast")

        cpu, wall = [], []
        for calls in (300, 1000, 1000, 1000, 1000, 1000):
            left = calls
            began, worked = time.perf_counter(), time.process_time()
            await swarm(16, worker)
            wall.append((time.perf_counter() - began) / calls * 1e6)
            cpu.append((time.process_time() - worked) / calls * 1e6)
        return {"cpu_us": statistics.median(cpu[1:]), "wall_us": statistics.median(wall[1:])}


async def big(library: str) -> dict[str, float]:
    """CPU for bodies of 1 MB, down and up, four at a time."""
    peer = Peer()
    body = b"x" * 1_000_000
    async with between(library, 4, peer) as client:

        async def down() -> None:
            for _ in range(10):
                assert len(await client.get(f"{peer.url}/big")) == len(body)

        async def up() -> None:
            for _ in range(10):
                assert len(await client.post(f"{peer.url}/echo", body)) == len(body)

        await down()
        worked = time.process_time()
        await swarm(4, down)
        half = time.process_time()
        await swarm(4, up)
        return {"down_us": (half - worked) / 40 * 1e6, "echo_us": (time.process_time() - half) / 40 * 1e6}


async def limits(library: str) -> dict[str, int]:
    """60 callers on a pool of 10: how many connections the peer sees at most."""
    peer = Peer()
    async with between(library, 10, peer) as client:
        calls = (client.get(f"{peer.url}/wait/50") for _ in range(60))
        results = await asyncio.gather(*calls, return_exceptions=True)
        errors = sum(isinstance(result, BaseException) for result in results)
        most = json.loads(await client.get(f"{peer.url}/counts"))["most"]
        return {"most_connections": most, "errors": errors}


async def slow_episode(library: str) -> dict[str, float]:
    """6 s of answers that take 3 s, 60 callers with 0.5 s of patience on a pool of 10; then normal calls."""
    peer = Peer()
    async with between(library, 10, peer) as client:
        end = time.monotonic() + 6

        async def impatient() -> None:
            while time.monotonic() < end:
                try:
                    async with asyncio.timeout(0.5):
                        await client.get(f"{peer.url}/wait/3000")
                except Exception:
                    await asyncio.sleep(0.01)

        await swarm(60, impatient)
        return await recovery(client, peer.url)


async def cancel_storm(library: str) -> dict[str, float]:
    """4,000 calls cancelled at random, on kept connections; then normal calls, and answers that were mixed up."""
    peer, dice = Peer(), random.Random(5)
    async with between(library, 10, peer) as client:
        numbers, mixed, errors = iter(range(4000)), 0, 0

        async def caller() -> None:
            nonlocal mixed, errors
            for number in numbers:
                try:
                    async with asyncio.timeout(dice.random() * 0.012):
                        mixed += await client.get(f"{peer.url}/id/{number}/4") != str(number).encode()
                except TimeoutError:
                    pass
                except Exception:
                    errors += 1

        await swarm(40, caller)
        return {**await recovery(client, peer.url), "mixed": mixed, "errors": errors}


async def connect_storm(library: str) -> dict[str, float]:
    """8 s of short deadlines with contention for a pool of 5, on connections that close after each answer."""
    peer, dice = Peer(), random.Random(7)
    async with between(library, 5, peer) as client:
        end = time.monotonic() + 8

        async def caller() -> None:
            while time.monotonic() < end:
                try:
                    await asyncio.wait_for(client.get(f"{peer.url}/close/10"), dice.random() * 0.03)
                except Exception:
                    await asyncio.sleep(0)

        await swarm(50, caller)
        return await recovery(client, peer.url)


async def restart(library: str) -> dict[str, int]:
    """Ten kept connections, the peer crashes and is back: how many of the next 20 GETs and POSTs fail."""
    peer = Peer()
    async with between(library, 10, peer) as client:
        await asyncio.gather(*(client.get(f"{peer.url}/wait/20") for _ in range(10)))
        peer.end()
        again = Peer(port=peer.port)
        try:
            calls = [client.get(f"{peer.url}/fast") for _ in range(5)]
            calls += [client.post(f"{peer.url}/echo", b"x") for _ in range(5)]
            first = await asyncio.gather(*calls, return_exceptions=True)
            calls = [client.get(f"{peer.url}/fast") for _ in range(10)]
            then = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            again.end()
        failed = [sum(isinstance(result, BaseException) for result in results) for results in (first, then)]
        return {"first_failed": failed[0], "then_failed": failed[1]}


async def idle_race(library: str) -> dict[str, int]:
    """The peer closes after 20 ms of idling, just when we call again: failed GETs and POSTs of 150 each."""
    peer, dice = Peer(idle_ms=20), random.Random(3)
    async with between(library, 4, peer) as client:
        failed = {"get_failed": 0, "post_failed": 0, "posts_sent_twice": 0}

        async def caller() -> None:
            for number in range(50):
                await asyncio.sleep(0.0185 + dice.random() * 0.003)
                kind = "post" if number % 2 else "get"
                try:
                    await (
                        client.post(f"{peer.url}/echo", b"x")
                        if number % 2
                        else client.get(f"{peer.url}/fast")
                    )
                except Exception:
                    failed[f"{kind}_failed"] += 1

        await swarm(6, caller)
        failed["posts_sent_twice"] = json.loads(await client.get(f"{peer.url}/counts"))["posts"] - 150
        return failed


SCENARIOS: tuple[Callable[[str], Awaitable[dict[str, float] | dict[str, int]]], ...] = (
    hop,
    big,
    limits,
    slow_episode,
    cancel_storm,
    connect_storm,
    restart,
    idle_race,
)


async def main() -> None:
    """Every scenario (or those named) for the library named on the command line."""
    library, *names = sys.argv[1:]
    results: dict[str, object] = {}
    for scenario in SCENARIOS:
        if names and scenario.__name__ not in names:
            continue
        try:
            async with asyncio.timeout(90):
                results[scenario.__name__] = await scenario(library)
        except Exception as error:
            results[scenario.__name__] = {"broken": repr(error)}
    print(json.dumps(results))


if __name__ == "__main__":
    uvloop.run(main())
