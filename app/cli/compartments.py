"""`chopho compartments`: what is finite in a replica, who shares it, and who dies with it."""

from __future__ import annotations

import json as jsonlib
import sys
from http.client import HTTPException
from typing import TYPE_CHECKING, Annotated, Final
from urllib.request import urlopen

import typer
from rich.console import Console
from rich.table import Table

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.errors import FleetError
from app.fleet.state import StateDirectory
from app.fleet.status import running_record

if TYPE_CHECKING:
    from app.observability.compartments import Row

# The other commands need not wait for all that a replica observes with to be imported.
_PATH: Final = "/internal/compartments"

_TIMEOUT_S: Final = 2.0
_COLUMNS: Final = ("compartment", "kind", "use", "waiting", "refused", "held", "next waits", "at 100×")


def compartments(
    replica: Annotated[str | None, typer.Option(help="Only this one, e.g. app1; default: all.")] = None,
    state: State = DEFAULT_STATE,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show every finite resource of the running replicas: its use, who shares it, and who dies with it.

    held: how long a place is held on average. next waits: the wait that size ÷ holding time predicts for the
    next user. at 100×: places that would be busy if its users became 100 times slower; more than there are
    means that everybody who shares it waits without end.
    """
    found = {name: _ask(name, url) for name, url in _chosen(state_directory(state), replica).items()}
    if json:
        sys.stdout.write(jsonlib.dumps({"replicas": found}, indent=2) + "\n")
        return
    for name, rows in found.items():
        _show(name, rows, Console())


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(compartments)


def _chosen(state: StateDirectory, only: str | None) -> dict[str, str]:
    record = running_record(state)
    urls = {name: f"http://127.0.0.1:{record.ports[name]}" for name in record.replicas()}
    if only is None:
        return urls
    if only not in urls:
        raise FleetError(f"no replica is called {only!r}; there are: {', '.join(urls) or 'none'}")
    return {only: urls[only]}


def _ask(name: str, url: str) -> list[Row]:
    try:
        with urlopen(url + _PATH, timeout=_TIMEOUT_S) as answer:  # noqa: S310 -- a URL that we made
            rows: list[Row] = jsonlib.load(answer)["compartments"]
    except (OSError, HTTPException, ValueError) as error:
        raise FleetError(f"replica {name} at {url} does not tell its compartments: {error}") from error
    return rows


def _show(name: str, rows: list[Row], console: Console) -> None:
    table = Table(*_COLUMNS, title=name, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in rows:
        console.print(f"  [bold]{row['name']}[/]: shared by {', '.join(row['shared_by'])}")
        console.print(f"    one user 100 times slower takes along: {row['dies']}")


def _cells(row: Row) -> list[str]:
    needed = row["needed_when_100_times_slower"]
    starves = needed is not None and needed > row["size"]
    return [
        row["name"],
        row["kind"],
        f"{row['in_use']:g}/{row['size']}",
        str(row["waiting"]),
        str(row["rejected"]),
        seconds(row["holding_s"]),
        seconds(row["predicted_wait_s"]),
        "-" if needed is None else f"{needed} of {row['size']}{' starves' if starves else ''}",
    ]


def seconds(value: float | None) -> str:
    """A time for people."""
    if value is None:
        return "-"
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
