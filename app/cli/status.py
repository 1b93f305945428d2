"""`chopho status`: what runs, and what HAProxy thinks of it."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.status import FleetStatus, status_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PASSWORD: Final = re.compile(r":[^:@/]*@")


def status(
    state: State = DEFAULT_STATE,
    json: Annotated[bool, typer.Option("--json", help="For machines, with addresses and passwords.")] = False,
    following: Annotated[
        bool, typer.Option("--watch", "-w", help="Every second, with requests and errors, until Ctrl-C.")
    ] = False,
) -> None:
    """Show the replicas with their state in HAProxy (UP, DOWN, DRAIN, MAINT; STOPPED: no process), services, servers."""
    directory = state_directory(state)
    if following:
        from app.cli.watching import watch

        watch(directory, json=json)
    found = asyncio.run(status_of(directory))
    if json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    else:
        # Programs need no tables.
        from rich.console import Console

        _show(found, Console())


def _show(found: FleetStatus, console: Console) -> None:
    whose = (
        f"supervisor {found.supervisor}"
        if found.supervisor
        else "its supervisor is dead; `chopho up` takes over"
    )
    console.print(f"{found.url}  {found.phase}, {whose}")
    console.print(_table(found))
    for replica in found.replicas:
        if replica.drained is not None:
            why = f"{replica.drained.by}: {replica.drained.reason}"
            console.print(
                f"{replica.name} is kept out since {replica.drained.at:%Y-%m-%d %H:%M:%SZ} by {why}"
            )
    if found.operation is not None:
        under_way = found.operation
        console.print(
            f"under way  {under_way.what}, by {under_way.by} since {under_way.since:%H:%M:%SZ}: {under_way.progress}"
        )
    if found.disk_low:
        console.print(
            f"disk  only {found.disk_free // 2**20:,} MiB are free; make room before nothing can be written"
        )
    console.print(f"logs  {found.logs}")


def _table(found: FleetStatus) -> Table:
    from rich.table import Column, Table

    table = Table(
        "name",
        "state",
        "pid",
        "in flight",
        "queued",
        "check",
        Column("address", overflow="fold"),
        box=None,
        pad_edge=False,
    )
    for replica in found.replicas:
        numbers = [str(replica.pid or "-"), str(replica.in_flight), str(replica.queued)]
        table.add_row(replica.name, replica.state, *numbers, replica.check, replica.url)
    for name, pid, address in (
        *((service.name, service.pid, service.url) for service in found.services),
        ("haproxy", found.haproxy.pid, found.haproxy.statistics),
        ("redis", found.redis.pid, found.redis.url),
        ("database", found.database.pid, _PASSWORD.sub(":***@", found.database.url or "")),
    ):
        table.add_row(name, "", str(pid or "-"), "", "", "", address)
    return table


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(status)
