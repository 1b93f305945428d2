"""Which database a command works on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.root import state_directory
from app.fleet.status import running_record
from app.settings.errors import SettingsError

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="CHOPHO_DATABASE_URL",
        show_envvar=True,
        help="The shop's database; default: the local fleet's.",
    ),
]


def database_of(url: str | None, state: Path) -> str:
    """The URL given, else the running fleet's; raises `SettingsError`, `NotRunning`."""
    url = url or running_record(state_directory(state)).database_url
    if not url.startswith("postgresql+psycopg://"):
        raise SettingsError("--database wants a URL beginning with postgresql+psycopg://")
    return url
