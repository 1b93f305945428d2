"""`chopho logs`: what the processes of the fleet say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.errors import NotRunning
from app.fleet.logs import follow, last_lines
from app.fleet.state import StateDirectory


def logs(
    name: Annotated[
        str | None,
        typer.Argument(help="app1, haproxy, redis, postgres, supervisor, …; default: all of them."),
    ] = None,
    state: State = DEFAULT_STATE,
    replica: Annotated[
        str | None, typer.Option("--replica", metavar="NAME", help="The same as NAME: one replica alone.")
    ] = None,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, help="How many lines of each to begin with.")
    ] = 20,
    following: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
) -> None:
    """Show the last lines of the logs, and with --follow each new one; several logs are told apart by name."""
    if name is not None and replica not in {None, name}:
        raise typer.BadParameter(f"{name} and --replica {replica} are two names; give one")
    name = name or replica
    chosen = _chosen(state_directory(state), name)
    to_come = follow(chosen)
    for log in chosen:
        for line in last_lines(log, lines):
            _say(log, line, named=name is None)
    for log, line in to_come if following else ():
        _say(log, line, named=name is None)


def _chosen(state: StateDirectory, name: str | None) -> list[Path]:
    found = sorted(state.logs.glob("*.log")) if name is None else [state.log(name)]
    if not all(log.exists() for log in found) or not found:
        there = ", ".join(sorted(log.stem for log in state.logs.glob("*.log"))) or "none"
        raise NotRunning(f"no log of {name or 'anything'} in {state.logs}; there are: {there}")
    return found


def _say(log: Path, line: str, *, named: bool) -> None:
    sys.stdout.write(f"{log.stem:>10} │ {line}\n" if named else f"{line}\n")
    sys.stdout.flush()


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(logs)
