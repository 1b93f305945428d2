"""A whole shop, and 100 pages that wait for a lock in its database: how long probes and log-ins take meanwhile."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import psycopg

from bench.compartments.processes import ROOT

SLOW_PAGES: Final = 100
ACCOUNT: Final = {"email": "khach@chopho.example", "password": "chopho-demo-2026"}
"""Of the local fleet's demo."""


@contextmanager
def fleet() -> Iterator[dict[str, Any]]:
    """One replica as `chopho up` brings it up; what `chopho status --json` says."""
    with tempfile.TemporaryDirectory() as state, socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        try:
            _chopho("up", "--replicas", "1", "--port", port, "--detach", "--state", state)
            yield json.loads(_chopho("status", "--json", "--state", state))
        finally:
            _chopho("down", "--state", state)


def _chopho(*words: str) -> str:
    done = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-m", "app", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


async def _took_ms(session: aiohttp.ClientSession, method: str, path: str, **more: Any) -> tuple[float, int]:  # noqa: ANN401 -- what aiohttp takes
    began = time.monotonic()
    async with session.request(method, path, **more) as answer:
        await answer.read()
    return (time.monotonic() - began) * 1000, answer.status


async def _meanwhile(session: aiohttp.ClientSession, name: str, lasting_s: float) -> None:
    """Both probes every 50 ms and a log-in every 200 ms; print the slowest of each."""
    end = time.monotonic() + lasting_s
    probes, log_ins = [], []

    async def probing() -> None:
        while time.monotonic() < end:
            probes.append(await _took_ms(session, "GET", "/health/liveness"))
            probes.append(await _took_ms(session, "GET", "/health/readiness"))
            await asyncio.sleep(0.05)

    async def logging_in() -> None:
        while time.monotonic() < end:
            log_ins.append(await _took_ms(session, "POST", "/api/v1/session", json=ACCOUNT))
            await asyncio.sleep(0.2)

    await asyncio.gather(probing(), logging_in())
    for what, seen in (("probes", probes), ("log-ins", log_ins)):
        slowest, statuses = max(took for took, _ in seen), sorted({status for _, status in seen})
        print(f"  {name:24}{what:8} slowest {slowest:6.1f} ms of {len(seen):3}, answers {statuses}")


async def main() -> None:
    """Without slow pages, then with them."""
    with fleet() as shop:
        replica, database = shop["replicas"][0]["url"], shop["database"]["url"].replace("+psycopg", "")
        print(f"\none replica of the shop, {SLOW_PAGES} pages that wait for a lock in the database")
        connector = aiohttp.TCPConnector(limit=0)
        # As the balancer passes it on; a replica serves no other name.
        host = {"Host": urlsplit(shop["url"]).netloc}
        async with aiohttp.ClientSession(replica, connector=connector, headers=host) as session:
            await _meanwhile(session, "no slow page", 2)
            with psycopg.connect(database) as connection:
                connection.execute("LOCK TABLE products, variants IN ACCESS EXCLUSIVE MODE")
                pages = [
                    asyncio.create_task(_took_ms(session, "GET", "/tim-kiem")) for _ in range(SLOW_PAGES)
                ]
                await _meanwhile(session, f"{SLOW_PAGES} slow pages", 2)
                took = await asyncio.gather(*pages)
                connection.rollback()
            slowest, statuses = max(each for each, _ in took), sorted({status for _, status in took})
            print(f"  the slow pages themselves: {slowest:.0f} ms at most, answers {statuses}")


if __name__ == "__main__":
    asyncio.run(main())
