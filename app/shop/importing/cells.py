"""Cells that a spreadsheet would run, made harmless on the way out and restored on the way in."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_RUNS: Final = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")
_MARKED: Final = re.compile(r"'+(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")


def harmless(cell: str) -> str:
    """The cell behind an apostrophe if a spreadsheet would take it for a formula, or for such an apostrophe."""
    return f"'{cell}" if _RUNS.match(cell) else cell


def restored(cell: str) -> str:
    """What `harmless` was given."""
    return cell[1:] if cell.startswith("'") and _MARKED.match(cell) else cell


def one_line(cell: str) -> str:
    """The cell in one Unicode form (NFC), without outer blanks, its line breaks and runs of blanks as one."""
    return " ".join(unicodedata.normalize("NFC", cell).split())
