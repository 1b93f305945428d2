"""The folder is a library: it runs from anywhere under any name, and its README is true."""

from __future__ import annotations

import ast
import importlib
import shutil
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import app.resilience

LIBRARY = Path(app.resilience.__file__).parent
SUITE = Path(__file__).parent
CONFTEST = """

@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
"""


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def blocks(language: str) -> list[str]:
    text = (LIBRARY / "README.md").read_text()
    return [part.partition("\n```")[0] for part in text.split(f"```{language}\n")[1:]]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder in which the library is called `bulwark`."""
    shutil.copytree(LIBRARY, tmp_path / "bulwark", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_example_prints_what_the_readme_says(elsewhere: Path) -> None:
    (example,), (says,) = blocks("python"), blocks("text")
    done = run("-c", example.replace("app.resilience", "bulwark"), cwd=elsewhere)
    assert done.stdout == says + "\n", done.stderr


def test_the_suite_passes_on_a_copy_under_another_name(elsewhere: Path) -> None:
    suite = elsewhere / "suite"
    suite.mkdir()
    for path in SUITE.glob("*.py"):
        if path.name not in ("test_library.py", "test_breaker_model.py"):
            (suite / path.name).write_text(path.read_text().replace("app.resilience", "bulwark"))
    with (suite / "conftest.py").open("a") as conftest:
        conftest.write(CONFTEST)
    options = ("--import-mode=importlib", "-o", "anyio_mode=auto", "-p", "no:cacheprovider", "-q")
    done = run("-m", "pytest", *options, str(suite), cwd=elsewhere)
    assert done.returncode == 0, done.stdout[-2000:]


def test_it_imports_nothing_but_itself_the_standard_library_and_anyio() -> None:
    allowed = {"anyio", *sys.stdlib_module_names}
    for path in LIBRARY.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed, path.name
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] in allowed, path.name


def test_every_value_is_frozen_and_slotted_and_what_has_many_fields_is_keyword_only() -> None:
    values = [
        value
        for path in LIBRARY.glob("*.py")
        for value in vars(importlib.import_module(f"app.resilience.{path.stem}")).values()
        if isinstance(value, type) and value.__module__.startswith("app.resilience") and is_dataclass(value)
    ]
    assert len(set(values)) > 20
    for value in values:
        assert value.__dataclass_params__.frozen, value  # type: ignore[attr-defined]  # not in the stubs
        assert "__slots__" in vars(value), value
        assert "__dataclass_params__" in vars(value), value
        if value.__name__.endswith(("Config", "Snapshot")):
            assert all(field.kw_only for field in fields(value)), value
