"""`chopho status --watch`: the fleet as a table that keeps up."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.live import Live
from rich.table import Table

from app.fleet.errors import BalancerSilent
from app.fleet.runtime import RuntimeApi, Server
from app.fleet.state import StateDirectory
from app.fleet.status import FleetStatus, status_of

_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What passed one replica in a second."""

    requests: float = 0.0
    errors: float = 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """HAProxy's counters at one moment."""

    at_s: float
    visitors: int
    servers: Mapping[str, Server]


def flows(before: Reading | None, now: Reading) -> Mapping[str, Flow]:
    """What passed each server between two readings; counters of another worker begin anew and tell nothing yet."""
    if before is None or now.at_s <= before.at_s:
        return {}
    passed_s = now.at_s - before.at_s
    both = {name: (before.servers[name], it) for name, it in now.servers.items() if name in before.servers}
    return {
        name: Flow(
            requests=(it.requests_total - was.requests_total) / passed_s,
            errors=max(0, it.errors_total - was.errors_total) / passed_s,
        )
        for name, (was, it) in both.items()
        if it.requests_total >= was.requests_total
    }


def watch(state: StateDirectory, *, json: bool) -> NoReturn:
    """Show it every second until Ctrl-C; with `json`, a line for each."""
    asyncio.run(_as_lines(state) if json else _as_table(state, Console()))


async def _as_lines(state: StateDirectory) -> NoReturn:
    while True:
        sys.stdout.write((await status_of(state)).model_dump_json() + "\n")
        sys.stdout.flush()
        await asyncio.sleep(_EVERY_S)


async def _as_table(state: StateDirectory, console: Console) -> NoReturn:
    before: Reading | None = None
    with Live(console=console, auto_refresh=False) as live:
        while True:
            found = await status_of(state)
            now = await _reading(Path(found.haproxy.socket))
            shown = table(found, now, flows(before, now))
            if console.is_terminal:
                live.update(shown, refresh=True)
            else:
                console.print(shown)
            before = now
            await asyncio.sleep(_EVERY_S)


async def _reading(socket: Path) -> Reading:
    try:
        runtime = RuntimeApi(socket)
        return Reading(time.monotonic(), await runtime.visitors(), await runtime.servers())
    except BalancerSilent:
        return Reading(time.monotonic(), 0, {})


def table(found: FleetStatus, now: Reading, passing: Mapping[str, Flow]) -> Table:
    """One line for each replica."""
    under_way = found.operation
    doing = f"; {under_way.what}, by {under_way.by}: {under_way.progress}" if under_way is not None else ""
    shown = Table(
        *("name", "state", "check", "requests/s", "errors/s", "in flight", "queue", "kept out by"),
        title=f"{found.url}  {found.phase}, {now.visitors} sessions{doing}",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for replica in found.replicas:
        flow = passing.get(replica.name, Flow())
        shown.add_row(
            replica.name,
            replica.state,
            replica.check,
            f"{flow.requests:.1f}",
            f"{flow.errors:.1f}",
            str(replica.in_flight),
            str(replica.queued),
            replica.drained.by if replica.drained is not None else "",
        )
    return shown
