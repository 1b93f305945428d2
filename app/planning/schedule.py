"""Replicas by the clock: there before the sale begins, gone after it. Pure: the time is given.

Times are Vietnam's, which has kept +07:00 all year since 1975.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from typing import Final

VIETNAM: Final = timezone(timedelta(hours=7), "+07")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """At least so many replicas every day from one time until another, over midnight too."""

    start: time
    until: time
    replicas: int

    def __post_init__(self) -> None:
        if self.start == self.until:
            raise ValueError(f"{self} begins when it ends")
        if self.replicas < 1:
            raise ValueError(f"{self} wants no replica")

    def __str__(self) -> str:
        return f"{self.start:%H:%M} to {self.until:%H:%M}: {self.replicas}"

    def holds(self, now: datetime) -> bool:
        """Whether it holds at that moment, which may be told in any time zone."""
        at = now.astimezone(VIETNAM).time()
        if self.start < self.until:
            return self.start <= at < self.until
        return at >= self.start or at < self.until


def scheduled(entries: Iterable[Entry], now: datetime) -> Entry | None:
    """The entry that holds now and wants most."""
    return max(
        (entry for entry in entries if entry.holds(now)), key=lambda entry: entry.replicas, default=None
    )
