"""The command `chopho`: one file for each group of commands."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from app.cli.exits import exit_code_of
from app.cli.groups import command_line
from app.cli.importing import importing
from app.fleet.errors import FleetError
from app.settings.errors import SettingsError


def main() -> NoReturn:
    """Run one command; an error that was foreseen is one line on standard error and an exit code."""
    words = sys.argv[1:] or ["--help"]
    try:
        with importing():
            cli = command_line(words)
        code = cli(words, prog_name="chopho", standalone_mode=False)
    except (FleetError, SettingsError, typer.TyperException) as error:
        # A wrong option's format_message also names the option.
        sentence = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        sys.stderr.write(f"chopho: {' '.join(sentence.split())}\n")
        sys.exit(exit_code_of(error))
    sys.exit(code if isinstance(code, int) else 0)
