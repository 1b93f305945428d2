"""What all commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.exits import EPILOG
from app.fleet.programs import Programs
from app.fleet.state import StateDirectory
from app.settings import FleetSettings, read

cli = typer.Typer(
    name="chopho",
    help="Chợ Phố: a shop whose replicas can be added, drained, killed or hung without a customer noticing.",
    epilog=EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

State = Annotated[
    Path,
    typer.Option(
        "--state", help="The fleet's directory: logs, data, sockets, secrets. One fleet, one directory."
    ),
]
DEFAULT_STATE = Path(".chopho")


def state_directory(path: Path) -> StateDirectory:
    """The directory by its absolute path, so that it means the same to every process."""
    return StateDirectory(path.absolute())


def programs() -> Programs:
    """The operator's own server programs, where the settings name any; raises `SettingsError`."""
    given = read(FleetSettings)
    return Programs(haproxy=given.haproxy, redis_server=given.redis_server, postgres_bin=given.postgres_bin)
