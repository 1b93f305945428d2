"""A clock that the suite moves by hand."""

from __future__ import annotations

import time
from datetime import timedelta


class Clock:
    """Tells the real time, moved by what it was advanced."""

    def __init__(self) -> None:
        self._ahead_s = 0.0

    def __call__(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._ahead_s

    def advance(self, span: timedelta) -> None:
        """Let time pass."""
        self._ahead_s += span.total_seconds()
