"""The generated references say what the code says."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
REFERENCES: dict[str, Callable[[], str]] = runpy.run_path(str(DOCS / "reference.py"))["REFERENCES"]


@pytest.mark.parametrize("file", sorted(REFERENCES))
def test_a_reference_is_current(file: str) -> None:
    written = (DOCS / "reference" / file).read_text(encoding="utf-8")
    assert written == REFERENCES[file](), f"docs/reference/{file} is behind: run make docs"
