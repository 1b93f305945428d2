"""docs/compartments.md names a test for every dependency and fault of the degradation table."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from app.shop.degradation import TABLE

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs/compartments.md").read_text(encoding="utf-8").partition("Where each row is held")[2]
ROWS = re.findall(r"^\| ([a-z, ]+) \| ([^|]+) \| ([^|]*tests/[^|]*) \|$", SECTION, re.MULTILINE)
STORE_FAULTS = re.findall(
    r"^\| ([^|]+) \| as always \|",
    (ROOT / "app/sessions/README.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_every_dependency_of_the_table_is_held_by_a_test() -> None:
    assert {name for names, _, _ in ROWS for name in names.split(", ")} == TABLE.keys()


def test_sessions_have_a_cell_for_every_fault_of_their_store() -> None:
    assert STORE_FAULTS
    assert [fault for name, fault, _ in ROWS if name == "sessions"] == STORE_FAULTS


@pytest.mark.parametrize(
    ("file", "name"), sorted({named for row in ROWS for named in re.findall(r"`(\S+?)::(\w+)`", row[2])})
)
def test_a_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
