"""The command `chopho`: one file for each group of commands."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from app.cli import (
    accounts,
    backup,
    breakers,
    catalog,
    compartments,
    doctor,
    down,
    faults,
    logs,
    mail,
    migrate,
    operations,
    sample,
    scaling,
    serve,
    sessions,
    status,
    up,
    vouchers,
)
from app.cli.exits import exit_code_of
from app.cli.root import cli
from app.fleet.errors import FleetError
from app.settings import SettingsError

for group in (
    *(up, status, operations, scaling, logs, down, serve, migrate),
    *(catalog, sample, backup, sessions, accounts, mail, compartments, breakers, faults),
    doctor,
    vouchers,
):
    group.register(cli)


def main() -> NoReturn:
    """Run one command; an error that was foreseen is one line on standard error and an exit code."""
    try:
        code = cli(sys.argv[1:] or ["--help"], prog_name="chopho", standalone_mode=False)
    except (FleetError, SettingsError, typer.TyperException) as error:
        # A wrong option's format_message also names the option.
        sentence = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        sys.stderr.write(f"chopho: {' '.join(sentence.split())}\n")
        sys.exit(exit_code_of(error))
    sys.exit(code if isinstance(code, int) else 0)
