"""The command `chopho`: one file for each group of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from app.cli.exits import exit_code_of
from app.cli.groups import command_line
from app.cli.importing import importing
from app.cli.output import READER_GONE, give_up_output, stand_in_for_closed_streams, tell
from app.fleet.errors import FleetError
from app.settings.errors import SettingsError


def main() -> NoReturn:
    """Run one command; an error that was foreseen is one line on standard error and an exit code."""
    stand_in_for_closed_streams()
    try:
        code = _run(sys.argv[1:] or ["--help"])
    except (FleetError, SettingsError, typer.TyperException) as error:
        # A wrong option's format_message also names the option.
        tell(error.format_message() if isinstance(error, typer.TyperException) else str(error))
        code = exit_code_of(error)
    except OSError as error:
        code = _unwritten(error)
    except SystemExit as ended:
        # Typer's own end of a command whose reader has gone.
        if not isinstance(ended.__context__, OSError):
            raise
        code = _unwritten(ended.__context__)
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    with importing():
        cli = command_line(words)
    code = cli(words, prog_name="chopho", standalone_mode=False)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _unwritten(error: OSError) -> int:
    """The system does not let the command go on; mostly its output is what cannot be written."""
    give_up_output()
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    tell(f"{error.filename or 'the output cannot be written'}: {error.strerror or error}")
    return exit_code_of(error)
