"""How much the replicas compute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import psutil


class CpuMeter:
    """The mean load of some processes between two readings, in percent of one core."""

    def __init__(
        self, pids: Callable[[], Iterable[int]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pids = pids
        self._clock = clock
        self._last: dict[int, float] = {}
        self._at = clock()

    def read(self) -> float | None:
        """Since the last reading, of those that were there then too; None where nobody was."""
        now, times = self._clock(), dict(self._times())
        passed, self._at = now - self._at, now
        earlier, self._last = self._last, times
        spent = [times[pid] - earlier[pid] for pid in times.keys() & earlier.keys()]
        if not spent or passed <= 0:
            return None
        return 100 * sum(spent) / len(spent) / passed

    def _times(self) -> Iterable[tuple[int, float]]:
        for pid in self._pids():
            try:
                used = psutil.Process(pid).cpu_times()
            except psutil.NoSuchProcess:
                continue
            yield pid, used.user + used.system
