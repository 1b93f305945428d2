"""`python -m bench.sessions.adds`: whether of 10,000 concurrent additions to carts, over three replicas, all are kept.

Half of them go to one line of one cart, the others to lines of their own of a second one, a hundred requests at once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import httpx

from bench.sessions.peers import PEERS, running
from bench.sessions.servers import free_port, redis_running

REPLICAS: Final = 3
LINES: Final = 50
AT_ONCE: Final = 100
_OURS: Final = next(peer for peer in PEERS if peer.name == "ours")


@contextmanager
def replicas() -> Iterator[list[str]]:
    """URLs of three processes on one Redis."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(redis_running())
        ports = [free_port() for _ in range(REPLICAS)]
        for port in ports:
            stack.enter_context(running(_OURS, port, redis.url, folder / str(port)))
        yield [f"http://127.0.0.1:{port}" for port in ports]


async def added(urls: list[str], additions: int) -> tuple[int, int]:
    """How many additions were answered with 200, and how many are in the carts."""
    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    async with httpx.AsyncClient(timeout=30, limits=limits) as client:
        cookies = []
        for user in ("one-line", "many-lines"):
            answer = await client.get(f"{urls[0]}/login?user={user}")
            cookies.append(answer.headers["set-cookie"].partition(";")[0])
            client.cookies.clear()
        numbers, accepted = count(), 0

        async def worker() -> None:
            nonlocal accepted
            while (number := next(numbers)) < additions:
                sku = "SKU" if number % 2 else f"SKU-{number % LINES:03}"
                url = f"{urls[number % REPLICAS]}/add?sku={sku}"
                answer = await client.get(url, headers={"cookie": cookies[(number + 1) % 2]})
                accepted += answer.status_code == 200

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        carts = [
            (await client.get(f"{urls[1]}/cart", headers={"cookie": cookie})).json() for cookie in cookies
        ]
        return accepted, sum(line["quantity"] for cart in carts for line in cart)


def main() -> None:
    """Add, count, judge."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--additions", type=int, default=10_000)
    given = words.parse_args()
    with replicas() as urls:
        began = time.perf_counter()
        accepted, kept = asyncio.run(added(urls, given.additions))
    print(
        f"{given.additions:,} concurrent additions over {REPLICAS} replicas in {time.perf_counter() - began:.0f} s: "
        f"{accepted:,} accepted, {kept:,} in the carts"
    )
    sys.exit(0 if accepted == kept == given.additions else 1)


if __name__ == "__main__":
    main()
