"""A thread that sees what the event loop cannot tell: that it stands still, or that memory grows without end."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NoReturn

import psutil

from .notify import Notifier

EXIT_WEDGED: Final = 4
EXIT_MEMORY: Final = 5

# Often enough for limits of seconds, and nothing that anybody would notice.
_LONGEST_PERIOD_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogConfig:
    """`loop_limit`: how long the loop may stand still; `memory_limit`: bytes that may be resident, None: all."""

    # Longer than any hiccup of a crowded machine, shorter than a person's patience.
    loop_limit: timedelta = timedelta(seconds=15)
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.loop_limit <= timedelta(0):
            raise ValueError("loop_limit must be longer than nothing")


class Watchdog:
    """Ends the process, with the stacks of all threads, when the loop is wedged.

    When memory passes its limit, `full` is called once, on the loop. The loop's own pulse also tells the service manager that it is alive. A process that was stopped as a whole
    and goes on (SIGSTOP, a suspended machine) is not wedged: the loop gets its time anew.
    """

    def __init__(self, config: WatchdogConfig, notifier: Notifier, *, full: Callable[[], None]) -> None:
        self._config = config
        self._notifier = notifier
        self._full = full
        self._limit_s = config.loop_limit.total_seconds()
        self._period_s = min(_LONGEST_PERIOD_S, self._limit_s / 5)
        self._over = threading.Event()
        self._beat = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running loop for the block."""
        loop = asyncio.get_running_loop()
        self._beat = time.monotonic()
        pulse = asyncio.ensure_future(self._pulse())
        thread = threading.Thread(target=self._watch, args=(loop,), name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            pulse.cancel()

    async def _pulse(self) -> None:
        within = self._notifier.alive_within
        period_s = min(self._period_s, within.total_seconds() / 3) if within else self._period_s
        while True:
            self._beat = time.monotonic()
            if within is not None:
                self._notifier.alive()
            await asyncio.sleep(period_s)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        looked = time.monotonic()
        while not self._over.wait(self._period_s):
            now = time.monotonic()
            if now - looked > self._limit_s / 2:
                self._beat = now  # this thread stood still as well: everything did
            looked = now
            if now - self._beat > self._limit_s:
                self._end(now - self._beat)
            if self._is_full():
                loop.call_soon_threadsafe(self._full)
                self._full = _nothing

    def _is_full(self) -> bool:
        limit = self._config.memory_limit
        return limit is not None and self._full is not _nothing and psutil.Process().memory_info().rss > limit

    @staticmethod
    def _end(stood_still_s: float) -> NoReturn:
        # Written past everything that might be what is wedged.
        words = f"watchdog: the event loop stands still for {stood_still_s:.1f} s; where every thread is:\n"
        os.write(sys.stderr.fileno(), words.encode())
        faulthandler.dump_traceback(all_threads=True)
        os._exit(EXIT_WEDGED)


def _nothing() -> None:
    """It was told already."""
