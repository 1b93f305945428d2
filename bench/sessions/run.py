"""`make bench`: the session layers side by side, on one Redis, in one run.

Every peer answers the lines of a session as JSON, sliding its expiry as its own settings say. Rounds go around
the peers, so that a slow minute of the machine meets all of them; medians are printed. CPU is the server's own,
user and system, over its process tree, without the load's and without Redis'.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench.sessions.load import fetch, load
from bench.sessions.peers import PEERS, Peer, Running, running
from bench.sessions.picture import picture
from bench.sessions.servers import free_port, redis_running

LINES: Final = (10, 60)
CONNECTIONS: Final = (1, 16, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One peer at one size and one number of connections; CPU in microseconds of a request."""

    peer: str
    route: str
    lines: int
    connections: int
    cpu_us: float
    requests_per_s: float
    p99_ms: float


def main() -> None:
    """Set up, measure, print, write."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=3, help="rounds around the peers (default 3)")
    words.add_argument("--seconds", type=float, default=2.0, help="seconds of one measurement (default 2)")
    words.add_argument("--only", nargs="*", default=[], help="peers to measure; all by default")
    words.add_argument("--out", type=Path, default=Path("bench/results"), help="where JSON and SVG go")
    given = words.parse_args()
    peers = [peer for peer in PEERS if not given.only or peer.name in given.only]
    for peer in peers:
        peer.set_up()
    figures = _medians([_round(peers, given.seconds, number, given.rounds) for number in range(given.rounds)])
    print(_table(figures))
    given.out.mkdir(parents=True, exist_ok=True)
    told = {
        "machine": platform.platform(),
        "python": platform.python_version(),
        "figures": [asdict(f) for f in figures],
    }
    (given.out / "sessions.json").write_text(json.dumps(told, indent=1))
    (given.out / "sessions.svg").write_text(picture([(f.peer, f.cpu_us) for f in figures if _is_headline(f)]))
    print(f"\nwritten: {given.out}/sessions.json, {given.out}/sessions.svg")


def _round(peers: Sequence[Peer], seconds: float, number: int, rounds: int) -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as folder, redis_running() as redis:
        for peer in peers:
            print(f"round {number + 1} of {rounds}: {peer.name} …", file=sys.stderr, flush=True)
            with running(peer, free_port(), redis.url, Path(folder) / peer.name) as it:
                figures += [figure for lines in LINES for figure in _measured(it, lines, seconds)]
    return figures


def _measured(it: Running, lines: int, seconds: float) -> list[Figure]:
    _, cookie = fetch(it.port, f"/fill?n={lines}")
    routes = ["/cart"]
    if it.peer.name == "ours" and lines == LINES[0]:
        routes.append("/plain")  # the same answer without a session: the difference is what the session costs
    return [
        _figure(it, route, cookie, lines, connections, seconds)
        for route in routes
        for connections in CONNECTIONS
    ]


def _figure(
    it: Running, route: str, cookie: str | None, lines: int, connections: int, seconds: float
) -> Figure:
    body, cookie = fetch(it.port, route, cookie)
    if len(json.loads(body)) != lines:
        raise SystemExit(f"{it.peer.name} lost lines: {body[:200]!r}")
    load(it.port, route, cookie, body, connections=connections, seconds=seconds / 2)  # compilers warm up
    before = it.cpu_s()
    seen = load(it.port, route, cookie, body, connections=connections, seconds=seconds)
    return Figure(
        peer=it.peer.name,
        route=route,
        lines=lines,
        connections=connections,
        cpu_us=1e6 * (it.cpu_s() - before) / seen.requests,
        requests_per_s=seen.requests / seen.seconds,
        p99_ms=seen.percentile_ms(99),
    )


def _medians(rounds: Sequence[Sequence[Figure]]) -> list[Figure]:
    same = defaultdict(list)
    for figure in (figure for one in rounds for figure in one):
        same[figure.peer, figure.route, figure.lines, figure.connections].append(figure)
    return [
        Figure(
            peer=peer,
            route=route,
            lines=lines,
            connections=connections,
            cpu_us=statistics.median(figure.cpu_us for figure in figures),
            requests_per_s=statistics.median(figure.requests_per_s for figure in figures),
            p99_ms=statistics.median(figure.p99_ms for figure in figures),
        )
        for (peer, route, lines, connections), figures in same.items()
    ]


def _is_headline(figure: Figure) -> bool:
    return figure.route == "/cart" and figure.lines == LINES[0] and figure.connections == 16


def _table(figures: Sequence[Figure]) -> str:
    rows = [
        f"{'peer':<14} {'route':<7} {'lines':>5} {'conns':>5} {'CPU µs/req':>11} {'req/s':>8} {'p99 ms':>8} {'× ours':>7}"
    ]
    ours = {(f.lines, f.connections): f.cpu_us for f in figures if f.peer == "ours" and f.route == "/cart"}
    for f in sorted(figures, key=lambda f: (f.lines, f.connections, f.cpu_us)):
        reference = ours.get((f.lines, f.connections))
        ratio = f"{f.cpu_us / reference:7.2f}" if reference else ""
        rows.append(
            f"{f.peer:<14} {f.route:<7} {f.lines:>5} {f.connections:>5} {f.cpu_us:>11.0f} {f.requests_per_s:>8.0f}"
            f" {f.p99_ms:>8.2f} {ratio}"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
