"""Times as people write them on the command line."""

from __future__ import annotations

from datetime import timedelta

import typer
from pydantic import TypeAdapter, ValidationError

from app.settings import Duration


def duration(option: str, given: str) -> timedelta:
    """30s, 10m, 2h, …; raises `typer.BadParameter` for anything else."""
    adapter: TypeAdapter[timedelta] = TypeAdapter(Duration)
    try:
        return adapter.validate_python(given)
    except ValidationError:
        raise typer.BadParameter(f"{option} is {given!r}; wants a time such as 30s, 10m or 2h") from None
