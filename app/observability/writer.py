"""Writing log lines without ever making the event loop wait for whoever reads them."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Final

from app.observability.lines import line

_PERIOD_S: Final = 0.05
"""Lines of one period leave in one write: cheap, and little is lost when the process is killed."""


class LineWriter:
    """Hands lines to a thread that writes them to `descriptor`.

    A reader that stops reading (a full pipe, a hung disk) blocks that thread alone. When `capacity` lines
    wait, further ones are dropped and counted, and a line tells how many as soon as there is room.
    """

    def __init__(self, descriptor: int, *, capacity: int = 10_000) -> None:
        self.capacity = capacity
        self.dropped = 0
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._untold = 0
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)

    @property
    def waiting(self) -> int:
        """Lines not yet written."""
        return len(self._lines)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def write(self, encoded: bytes, *, urgent: bool = False) -> None:
        """Take one line; never waits. An urgent one leaves at once."""
        if len(self._lines) >= self.capacity:
            self.dropped += 1
            self._untold += 1
            return
        self._lines.append(encoded)
        if urgent:
            self._wake.set()

    def close(self, *, within_s: float = 2.0) -> None:
        """Write what is left, unless nobody reads it."""
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(within_s)

    def _run(self) -> None:
        while not self._closed or self._lines:
            self._wake.wait(_PERIOD_S)
            self._wake.clear()
            self._flush()

    def _flush(self) -> None:
        batch = [self._lines.popleft() for _ in range(len(self._lines))]
        untold, self._untold = self._untold, 0
        if untold:
            batch.append(line({"level": "warning", "message": "log lines dropped", "count": untold}))
        left = memoryview(b"".join(batch))
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except OSError:  # nobody reads any more, or the disk is full: there is no other place to say so
                self.dropped += len(batch)
                return
