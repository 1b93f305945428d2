"""What a process does not need, it does not import: a shop, a service or a command starts the sooner."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from app.cli.groups import GROUPS
from app.cli.root import new_command_line

ROOT = Path(__file__).parents[2]
DRIVERS = {"sqlalchemy", "psycopg", "redis", "aiohttp", "alembic"}
WEB = {"fastapi", "starlette.responses", "starlette.routing", "jinja2", "uvicorn", "app.web", "app.main"}


def imported_by(code: str) -> set[str]:
    """Every module that a new interpreter has after it."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.split())


def needless(modules: Iterable[str], unwanted: set[str]) -> set[str]:
    return {
        name
        for name in modules
        if any(name == package or name.startswith(f"{package}.") for package in unwanted)
    }


def test_a_command_that_looks_or_ends_waits_for_no_driver_no_settings_and_no_table() -> None:
    words = ("status", "logs", "down", "drain", "up")
    modules = imported_by(
        "from app.cli import command_line\n" + "\n".join(f"command_line([{word!r}])" for word in words)
    )
    unwanted = DRIVERS | WEB | {"rich.table", "rich.live", "cryptography", "app.settings.shop", "app.control"}
    assert needless(modules, unwanted) == set()


def test_a_supervisor_waits_for_no_driver_and_no_web() -> None:
    modules = imported_by("import app.cli.up, app.fleet.fleet, app.fleet.topology")
    assert needless(modules, DRIVERS | WEB | {"cryptography", "app.stores.database", "app.control"}) == set()


def test_a_service_waits_for_neither_the_shops_web_nor_its_wiring() -> None:
    names = ("inventory", "payments", "recommendations", "reviews")
    modules = imported_by("\n".join(f"import app.serving.{name}" for name in names))
    assert needless(modules, {"redis", "app.web", "app.main", "app.wiring"}) == set()


def test_a_doctor_waits_for_no_web_and_no_wiring() -> None:
    assert (
        needless(
            imported_by("import app.doctor"), {"fastapi", "aiohttp", "app.web", "app.main", "app.wiring"}
        )
        == set()
    )


@pytest.mark.parametrize("group", GROUPS)
def test_every_file_of_commands_has_the_commands_it_is_looked_up_by(group: str) -> None:
    alone = new_command_line()
    import_module(f"app.cli.{group}").register(alone)
    command = get_command(alone)
    with typer.Context(command) as context:
        assert sorted(command.list_commands(context)) == sorted(GROUPS[group])  # type: ignore[attr-defined]  # a group
