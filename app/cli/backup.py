"""`chopho backup` and `chopho restore`: the whole shop into a file, and back."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from app.cli.databases import DatabaseUrl, database_of
from app.cli.exits import EPILOG
from app.cli.progress import progress_of
from app.cli.root import DEFAULT_STATE, State, programs
from app.fleet.errors import FleetError

# The other commands need not wait for the database's driver to be imported.
if TYPE_CHECKING:
    from app.fleet.archives import Label
    from app.fleet.backups import Backups

Json = Annotated[bool, typer.Option("--json", help="For machines.")]


def backup(
    file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to write it; must not be there yet.")],
    json: Json = False,
    state: State = DEFAULT_STATE,
    database: DatabaseUrl = None,
) -> None:
    """Write the whole database to FILE as it is at one moment, and a label to FILE.json; shoppers go on meanwhile."""
    with Console(stderr=True).status("Writing and reading back …"):
        label = _backups(database, state).take(file.absolute())
    _tell(f"{file} holds", label, json=json)


def restore(
    file: Annotated[
        Path, typer.Argument(dir_okay=False, help="What chopho backup wrote; its label lies beside it.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Throw away what the database holds now. There is no way back.")
    ] = False,
    json: Json = False,
    state: State = DEFAULT_STATE,
    database: DatabaseUrl = None,
) -> None:
    """Put the shop of FILE into the database, whole or not at all, and bring it up to this release."""
    from app.shop.errors import Unavailable

    with progress_of(f"Restoring {file.name}", shown=not json) as progress:
        try:
            label = _backups(database, state).restore(file.absolute(), force=force, progress=progress)
        except Unavailable as away:
            raise FleetError(
                f"{file} is restored, but not brought up to this release: {away}; run chopho migrate"
            ) from away
    if label is None:
        sys.stderr.write(f"{file} has no label beside it, so its rows were not counted\n")
    _tell("restored", label, json=json)


def _backups(url: str | None, state: Path) -> Backups:
    from app.fleet.archives import ArchivePrograms
    from app.fleet.backups import Backups

    return Backups(
        programs=ArchivePrograms(folder=programs().find_postgres_bin()), url=database_of(url, state)
    )


def _tell(what: str, label: Label | None, *, json: bool) -> None:
    if json:
        sys.stdout.write((label.model_dump_json(indent=2) if label else jsonlib.dumps(None)) + "\n")
    elif label is None:
        sys.stdout.write(f"{what}\n")
    else:
        rows = sum(label.rows.values())
        sys.stdout.write(
            f"{what} {rows} rows of {len(label.rows)} tables, taken {label.taken_at}, revision {label.revision}\n"
        )


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command(epilog=EPILOG)(backup)
    cli.command(epilog=EPILOG)(restore)
