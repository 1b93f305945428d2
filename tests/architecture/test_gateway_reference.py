"""The tables of docs/gateway.md say what the gateway does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from app.web.gateway import headers

TEXT = (Path(__file__).parents[2] / "docs/gateway.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.+?`) \| (yes|no) \|", re.MULTILINE)


def told(section: str) -> dict[str, bool]:
    """Header → whether it passes, as the section says."""
    (text,) = re.findall(rf"^## {section}$(.*?)^## ", TEXT, re.MULTILINE | re.DOTALL)
    return {name: said == "yes" for names, said in ROW.findall(text) for name in re.findall("`(.+?)`", names)}


REQUEST, ANSWER = told("Request headers"), told("Answers")


@pytest.mark.parametrize(("said", "passes"), [(REQUEST, headers.passes_in), (ANSWER, headers.passes_out)])
def test_a_header_passes_as_it_is_written(said: dict[str, bool], passes: Callable[[bytes], bool]) -> None:
    assert said == {name: passes(name.lower().encode()) for name in said}


def test_every_header_of_a_rule_is_written() -> None:
    in_requests = {name.lower().encode() for name in REQUEST}
    assert in_requests >= headers.HOP_BY_HOP | headers.OURS | headers.SECRETS | headers.KNOWN
    assert {name.lower().encode() for name in ANSWER} >= headers.CLOSED_ANSWERS
