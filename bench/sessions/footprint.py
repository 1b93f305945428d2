"""`python -m bench.sessions.footprint`: what sessions weigh in Redis, and whether their number slows them down.

7,600 sessions with an identity, a device and 10 lines are made through the library; then as many copies as asked for
are put beside them under tickets of their own, and reads and commits are timed one by one, before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import redis

from app.sessions import Changes, SessionConfig, Step
from app.sessions.backends import store_of
from app.sessions.ports import SessionStore
from app.sessions.records import Committed, Draft, Record
from app.sessions.redis_keys import Keys
from app.sessions.tickets import new_ticket, ref_of, session_id
from bench.sessions.servers import redis_running

FEW: Final = 7_600
NAMESPACE: Final = "chopho:session"
CONFIG: Final = SessionConfig(namespace=NAMESPACE, timeout=timedelta(seconds=2))
DEVICE: Final = "Chrome · Android"
_CHUNK: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Microseconds of one call after another."""

    p50: float
    p99: float

    @classmethod
    def of(cls, taken_s: Sequence[float]) -> Timing:
        """Of so many calls."""
        cuts = statistics.quantiles(taken_s, n=100)
        return cls(p50=1e6 * cuts[49], p99=1e6 * cuts[98])

    def __str__(self) -> str:
        return f"{self.p50:7.0f} {self.p99:7.0f}"


def main() -> None:
    """Make, weigh, time, print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument(
        "--sessions", type=int, default=1_000_000, help="how many in the end (default 1,000,000)"
    )
    words.add_argument("--calls", type=int, default=3_000, help="calls of each kind to time (default 3,000)")
    given = words.parse_args()
    with redis_running() as server, redis.Redis.from_url(server.url) as client:
        asyncio.run(_run(server.url, client, given.sessions, given.calls))


async def _run(url: str, client: redis.Redis, sessions: int, calls: int) -> None:
    store = store_of(url, CONFIG, [secrets.token_urlsafe(32)])
    await store.open()
    try:
        empty = _used(client)
        tickets = await _made(store)
        _weigh(client, empty, tickets)
        print(
            f"\n{'sessions':>10} {'read p50':>9} {'p99':>6}  {'commit p50':>9} {'p99':>6}  (µs, one after another)"
        )
        await _timed(store, tickets, calls)
        if sessions > len(tickets):
            tickets += _copied(client, tickets[0], sessions - len(tickets))
            await _timed(store, tickets, calls)
            used = _used(client) - empty
            print(
                f"\n{sessions:,} sessions: {used / 2**20:,.0f} MiB, {used / sessions:.0f} bytes each, index included"
            )
    finally:
        await store.close()


async def _made(store: SessionStore) -> list[str]:
    async def one(number: int) -> str:
        lines = {f"cart:AO-DAI-LUA-{number % 97:03}-{line}": b"%d" % (line + 1) for line in range(10)}
        fields = {"cart-id": b'"%s"' % secrets.token_urlsafe(16).encode(), **lines}
        user = f"user:{number:08x}-7d3e-7c51-9f0a-1f2e3d4c5b6a"
        draft = Draft(fields=fields, user=user, device=DEVICE, address="203.0.113.7")
        return (await store.create(draft)).ticket

    tickets: list[str] = []
    for begin in range(0, FEW, 200):
        tickets += await asyncio.gather(*(one(number) for number in range(begin, begin + 200)))
    return tickets


def _weigh(client: redis.Redis, empty: int, tickets: Sequence[str]) -> None:
    key = Keys(NAMESPACE).session(session_id(tickets[0]))
    print(f"{len(tickets):,} sessions with an identity, a device and 10 lines:")
    print(
        f"  the hash ({client.object('encoding', key).decode()}): {client.memory_usage(key, samples=0)} bytes"
    )
    index = Keys(NAMESPACE).index(ref_of(tickets[0]))
    print(f"  its user's index: {client.memory_usage(index, samples=0)} bytes")
    print(f"  all of the server's memory: {(_used(client) - empty) / len(tickets):.0f} bytes a session")


def _copied(client: redis.Redis, ticket: str, number: int) -> list[str]:
    """Copies of a session and its user's index, each under a ticket and a user of its own."""
    keys = Keys(NAMESPACE)
    session, index = (
        client.dump(key) or b"" for key in (keys.session(session_id(ticket)), keys.index(ref_of(ticket)))
    )
    made = []
    for begin in range(0, number, _CHUNK):
        with client.pipeline(transaction=False) as pipeline:
            for n in range(begin, min(begin + _CHUNK, number)):
                copy = new_ticket("r1", NAMESPACE, f"user:{n}")
                made.append(copy)
                pipeline.restore(keys.session(session_id(copy)), CONFIG.idle_ms, session)
                pipeline.restore(keys.index(ref_of(copy)), CONFIG.kept_ms, index)
            pipeline.execute()
    return made


async def _timed(store: SessionStore, tickets: Sequence[str], calls: int) -> None:
    async def read(ticket: str) -> None:
        if not isinstance(await store.load(ticket), Record):
            raise SystemExit("a session was lost")

    step = Changes(add={"cart:AO-DAI-LUA-000-0": Step(by=1)})

    async def commit(ticket: str) -> None:
        if not isinstance(await store.commit(ticket, step), Committed):
            raise SystemExit("a commit was lost")

    timings = [await _times(call, tickets, calls) for call in (read, commit)]
    print(f"{len(tickets):>10,}  " + "  ".join(str(timing) for timing in timings))


async def _times(call: Callable[[str], Awaitable[None]], tickets: Sequence[str], calls: int) -> Timing:
    taken = []
    for ticket in secrets.SystemRandom().sample(list(tickets), min(calls, len(tickets))):
        began = time.perf_counter()
        await call(ticket)
        taken.append(time.perf_counter() - began)
    return Timing.of(taken)


def _used(client: redis.Redis) -> int:
    return int(client.info("memory")["used_memory"])


if __name__ == "__main__":
    main()
