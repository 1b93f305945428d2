"""What a hop through the gateway costs, and a composed product: ``make bench-gateway``. Five minutes, on 127.0.0.1.

CPU is that of the process in front, services and clients left out. Rounds alternate, so that a slow moment of the machine
meets every column; figures are medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from bench.gateway.compose import compose
from bench.gateway.processes import Server, nginx, nginx_program, replica, service
from bench.gateway.service import BODY
from bench.sessions.load import load
from bench.sessions.servers import redis_running

LOCAL: Final = "/api/v1/session"
HOP: Final = "/api/services/payments/echo"

# The author's figures, one JVM, 100 connections: requests a second.
SEED_DIRECT, SEED_GATEWAY, SEED_KEPT, SEED_CLOSED = 110_867, 89_200, 90_029, 23_670


@dataclass(slots=True)
class Column:
    """One way of asking, and what its rounds saw."""

    server: Server
    path: str
    cpu_us: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)

    def round(self, connections: int, seconds: float) -> None:
        """Ask for so long."""
        before = self.server.cpu_s()
        seen = load(self.server.port, self.path, None, BODY, connections=connections, seconds=seconds)
        self.cpu_us.append((self.server.cpu_s() - before) / seen.requests * 1e6)
        self.rate.append(seen.requests / seen.seconds)
        self.p50_ms.append(seen.percentile_ms(50))
        self.p99_ms.append(seen.percentile_ms(99))

    @property
    def cpu(self) -> float:
        """CPU microseconds for one request."""
        return statistics.median(self.cpu_us)

    @property
    def per_second(self) -> float:
        """Requests a second."""
        return statistics.median(self.rate)


def measured(columns: Mapping[str, Column], *, connections: int, rounds: int, seconds: float) -> None:
    """Ask every column in turn; print a table."""
    for column in columns.values():
        load(column.server.port, column.path, None, BODY, connections=connections, seconds=0.5)  # warm up
    for _ in range(rounds):
        for column in columns.values():
            column.round(connections, seconds)
    print(f"\n{connections} connections, medians of {rounds} rounds of {seconds:g} s")
    print(f"  {'':44}{'CPU µs':>8}{'req/s':>9}{'p50 ms':>8}{'p99 ms':>8}")
    for name, column in columns.items():
        p50, p99 = statistics.median(column.p50_ms), statistics.median(column.p99_ms)
        print(f"  {name:44}{column.cpu:>8.0f}{column.per_second:>9.0f}{p50:>8.2f}{p99:>8.2f}")


def hop(redis_url: str, nginx_at: str | None, *, rounds: int, seconds: float) -> None:
    """The gateway beside a local route, nginx as a proxy beside its own page."""
    with ExitStack() as stack:
        behind = stack.enter_context(service())
        closing = stack.enter_context(service(closes=True))
        shop = stack.enter_context(replica(redis_url, {"payments": f"http://127.0.0.1:{behind.port}"}))
        unkept = stack.enter_context(replica(redis_url, {"payments": f"http://127.0.0.1:{closing.port}"}))
        columns = {
            "a local route": Column(shop, LOCAL),
            "through the gateway": Column(shop, HOP),
            "the service, asked directly": Column(behind, "/echo"),
        }
        if nginx_at is None:
            print("nginx is not installed here (apt-get install nginx, or --nginx PATH): left out")
        else:
            proxy = stack.enter_context(nginx(nginx_at, behind))
            columns |= {
                "nginx, a page of its own": Column(proxy, "/local"),
                "through nginx": Column(proxy, "/echo"),
            }
        measured(columns, connections=16, rounds=rounds, seconds=seconds)
        ours = columns["through the gateway"].cpu - columns["a local route"].cpu
        print(f"  a hop through the gateway: {ours:.0f} µs of CPU over a local route (budget: 100)")
        if nginx_at is not None:
            theirs = columns["through nginx"].cpu - columns["nginx, a page of its own"].cpu
            print(
                f"  a hop through nginx: {theirs:.0f} µs over its own page; ours is {ours / theirs:.1f} times that"
            )
        _keep_alive(shop, unkept, behind, rounds=rounds, seconds=seconds)


def _keep_alive(shop: Server, unkept: Server, behind: Server, *, rounds: int, seconds: float) -> None:
    columns = {
        "the service, asked directly": Column(behind, "/echo"),
        "through the gateway": Column(shop, HOP),
        "… to a service that closes each connection": Column(unkept, HOP),
    }
    measured(columns, connections=100, rounds=rounds, seconds=seconds)
    direct, kept, closed = (column.per_second for column in columns.values())
    print(
        f"  gateway ÷ direct: {kept / direct:.2f} (seed: {SEED_GATEWAY / SEED_DIRECT:.2f}, one JVM for both)"
    )
    print(f"  kept ÷ closed connections: {kept / closed:.1f} (seed: {SEED_KEPT / SEED_CLOSED:.1f})")


def main(argv: Sequence[str] | None = None) -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--nginx", help="path of nginx; by default the one that is installed")
    parser.add_argument("--compose-only", action="store_true", help="leave out the hop")
    options = parser.parse_args(argv)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if not options.compose_only:
        with redis_running() as redis:
            hop(redis.url, nginx_program(options.nginx), rounds=options.rounds, seconds=options.seconds)
    compose(rounds=options.rounds, seconds=options.seconds)


if __name__ == "__main__":
    main()
