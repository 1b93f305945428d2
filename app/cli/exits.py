"""What the exit codes of `chopho` mean; the one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import typer

from app.fleet import errors
from app.settings.errors import SettingsError


class CatalogueRefused(errors.FleetError):
    """An import file says what the shop cannot keep; nothing was imported."""


_CODES: Final[Mapping[type[BaseException], tuple[int, str]]] = {
    errors.FleetError: (1, "it failed"),
    typer.TyperException: (2, "wrong options"),
    errors.PortInUse: (3, "the port is in use"),
    errors.ProgramMissing: (4, "a server's program is missing"),
    errors.AlreadyRunning: (5, "a fleet already runs in the state directory"),
    errors.NotRunning: (6, "no fleet runs in the state directory"),
    errors.CannotStart: (7, "a process cannot start"),
    SettingsError: (8, "a setting cannot be used"),
    CatalogueRefused: (9, "an import file was refused"),
    errors.BackupRefused: (10, "a backup was refused"),
    errors.Busy: (11, "another operator's order is being carried out"),
    errors.NoSuchReplica: (12, "no such replica"),
    errors.SupervisorGone: (13, "no supervisor is there to do it"),
    errors.WouldBeOutage: (14, "nobody would be left to serve"),
}

SICK: Final[Mapping[str, int]] = {"NOTE": 0, "WARNING": 20, "ERROR": 21}
"""What `chopho doctor` ends with, by the worst it found; from mild to bad."""

EPILOG: Final = f"Exit codes: 0 done; {'; '.join(f'{code} {words}' for code, words in _CODES.values())}; 130 interrupted; 141 nobody read on."


def exit_code_of(error: BaseException) -> int:
    """The code of the error's own class, or of the nearest one above it."""
    return next((_CODES[kind][0] for kind in type(error).__mro__ if kind in _CODES), 1)
