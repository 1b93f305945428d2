"""What all commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.exits import EPILOG
from app.fleet.programs import Programs
from app.fleet.state import StateDirectory

State = Annotated[
    Path,
    typer.Option(
        "--state", help="The fleet's directory: logs, data, sockets, secrets. One fleet, one directory."
    ),
]
DEFAULT_STATE = Path(".chopho")


def new_command_line() -> typer.Typer:
    """`chopho` without any command yet."""
    cli = typer.Typer(
        name="chopho",
        help="Chợ Phố: a shop whose replicas can be added, drained, killed or hung without a customer noticing.",
        epilog=EPILOG,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    # Typer makes a lone command the whole program, unless there is something that comes before every command.
    cli.callback()(_nothing)
    return cli


def _nothing() -> None: ...


def state_directory(path: Path) -> StateDirectory:
    """The directory by its absolute path, so that it means the same to every process."""
    return StateDirectory(path.absolute())


def programs() -> Programs:
    """The operator's own server programs, where the settings name any; raises `SettingsError`."""
    # Most commands need no settings.
    from app.settings import FleetSettings, read

    given = read(FleetSettings)
    return Programs(haproxy=given.haproxy, redis_server=given.redis_server, postgres_bin=given.postgres_bin)
