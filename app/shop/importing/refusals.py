"""Collects what a file may not say, up to a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.shop.errors import ShopError
from app.shop.importing.records import Refusal

REFUSALS_MOST: Final = 100
"""Nobody mends more than this before trying again."""


class NotAccepted(ValueError):
    """A cell that cannot be used; the message says what was expected."""


class FileRefused(ShopError):
    """A file says what the shop cannot keep, in as many sentences; nothing changed."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        # Short: a driver passes the text of an error on to its server, which takes no long one.
        super().__init__(f"{len(refusals)} refusals, the first: {refusals[0]}"[:500])
        self.refusals = refusals


class Refusals:
    """Every refusal of one file so far; `full` when more would help nobody."""

    def __init__(self, file: str, *, most: int = REFUSALS_MOST) -> None:
        self._file = file
        self._most = most
        self._found: list[Refusal] = []

    @property
    def full(self) -> bool:
        """Whether reading on makes no sense."""
        return len(self._found) >= self._most

    def __len__(self) -> int:
        return len(self._found)

    def refuse(self, line: int, column: str | None, given: str | None, expected: str) -> None:
        """Note one refusal; past the bound it is dropped."""
        if not self.full:
            self._found.append(
                Refusal(file=self._file, line=line, column=column, given=given, expected=expected)
            )

    def in_order(self) -> Sequence[Refusal]:
        """All of them, in the order of their lines."""
        return sorted(self._found, key=lambda refusal: refusal.line)
