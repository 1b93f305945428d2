"""Which file has which command; a command waits for the import of its own file alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

import typer

from app.cli.root import new_command_line

GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "up": ("up",),
    "status": ("status",),
    "operations": ("drain", "ready", "restart", "scale", "reload", "secrets"),
    "scaling": ("schedule", "autoscale"),
    "logs": ("logs",),
    "down": ("down",),
    "serve": ("serve",),
    "migrate": ("migrate",),
    "catalog": ("catalog",),
    "sample": ("sample",),
    "backup": ("backup", "restore"),
    "sessions": ("sessions",),
    "accounts": ("accounts",),
    "mail": ("mail",),
    "compartments": ("compartments",),
    "breakers": ("breakers",),
    "faults": ("faults",),
    "doctor": ("doctor",),
    "vouchers": ("vouchers",),
}
"""The commands of each file, as the help lists them."""


def command_line(words: Sequence[str] = ()) -> typer.Typer:
    """The group of the command that the words begin with; all of them where they begin with none."""
    named = [group for group, commands in GROUPS.items() if words and words[0] in commands]
    cli = new_command_line()
    for group in named or GROUPS:
        import_module(f"app.cli.{group}").register(cli)
    return cli
