"""`chopho migrate`: bring the database up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.exits import EPILOG
from app.cli.importing import importing
from app.fleet.errors import FleetError
from app.shop.errors import Unavailable


def migrate(
    sample_data: Annotated[
        bool,
        typer.Option(
            "--sample-data", help="Also fill an empty shop with the sample catalogue and the demo accounts."
        ),
    ] = False,
) -> int:
    """Bring the tables of CHOPHO_DATABASE_URL up to date; several may do so at once."""
    # The other commands need not wait for the whole shop to be imported.
    with importing():
        from app.migrating import migrate_shop

    try:
        return migrate_shop(sample_data=sample_data)
    except Unavailable as error:
        raise FleetError(f"the database cannot be migrated: {error}") from error


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(migrate)
