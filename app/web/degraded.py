"""Saying what an answer lacks: to programs in a header, to people in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

HEADER: Final = "X-Degraded"


def degraded_headers(names: Sequence[str]) -> Mapping[str, str]:
    """The header that names them; none where nothing is missing."""
    return {HEADER: ", ".join(names)} if names else {}


def age_minutes(age_s: float) -> int:
    """An age as people are told it: whole minutes, the first of them begun."""
    return max(1, round(age_s / 60))
