"""A process of the fleet that is kept alive."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.fleet.errors import CannotStart
from app.fleet.events import Died, Failed, Hung, Report, Started, Stopped
from app.fleet.logs import last_words
from app.fleet.processes import Command, Process, find, launch
from app.fleet.record import ProcessRecord
from app.fleet.state import StateDirectory

# The first restart is at once in effect; a process that keeps dying must not take the machine with it.
_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 30.0
# What lived this long was well: the next death starts from the first pause again.
_WELL_AFTER_S: Final = 30.0


# Between two questions whether it hangs.
_ASK_EVERY_S: Final = 1.0
# So many unanswered in a row, however long the limit: one slow moment of our own proves nothing.
_LEAST_SILENCES: Final = 3


async def _never() -> bool:
    """For members whose death is the only sign."""
    return False


async def _nothing() -> None:
    """For members that nobody waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """How a member is looked after.

    `answers` says whether it does its work yet; `joins` runs each time it has come up, `leaves` each time it
    has died; neither raises. `noted` keeps its record. One that `hangs` for `hung_after` is ended.
    """

    answers: Callable[[], Awaitable[bool]]
    noted: Callable[[str, ProcessRecord | None], None]
    joins: Callable[[], Awaitable[None]] = _nothing
    leaves: Callable[[], Awaitable[None]] = _nothing
    hangs: Callable[[], Awaitable[bool]] = _never
    hung_after: timedelta = timedelta(seconds=20)
    start_timeout: timedelta = timedelta(seconds=60)


class Member:
    """Starts or adopts its process, and brings it back with a growing pause whenever it dies."""

    def __init__(self, command: Command, state: StateDirectory, care: Care, report: Report) -> None:
        self.command = command
        self._log = state.log(command.name)
        self._care = care
        self._report = report
        self._process: Process | None = None
        self.is_up = False

    async def start(self, earlier: ProcessRecord | None = None) -> None:
        """Bring it up; an earlier process that was told the same is adopted, another one is ended first.

        Raises `CannotStart` with its last words.
        """
        began = time.monotonic()
        process = find(earlier) if earlier is not None else None
        if process is not None and process.record.digest != self.command.digest:
            await process.stop()
            process = None
        adopted = process is not None
        self._process = process or launch(self.command, self._log)
        self._care.noted(self.command.name, self._process.record)
        await self._until_it_answers(self._process)
        self.is_up = True
        self._report(Started(self.command.name, self._process.pid, time.monotonic() - began, adopted))
        await self._care.joins()

    async def keep(self) -> None:
        """Bring it back for ever."""
        pause_s = _FIRST_PAUSE_S
        while self._process is not None:
            began = time.monotonic()
            await self._ended_or_hung(self._process)
            self.is_up = False
            if time.monotonic() - began > _WELL_AFTER_S:
                pause_s = _FIRST_PAUSE_S
            self._report(Died(self.command.name, self._process.verdict(), last_words(self._log), pause_s))
            await self._care.leaves()
            pause_s = await self._again(pause_s)

    async def stop(self) -> None:
        """End it, if it runs."""
        process, self._process = self._process, None
        self.is_up = False
        if process is None:
            return
        began = time.monotonic()
        try:
            by_itself = await process.stop()
        except asyncio.CancelledError:
            # It was asked to go and has not gone yet: whoever stops it next waits for it.
            self._process = process
            raise
        self._care.noted(self.command.name, None)
        self._report(Stopped(self.command.name, time.monotonic() - began, killed=not by_itself))

    def kill(self) -> None:
        """End it at once; `stop` then only takes note."""
        if self._process is not None:
            self._process.signal(signal.SIGKILL)

    async def _ended_or_hung(self, process: Process) -> None:
        """Return once it has ended; one that hangs is made to leave its stacks in the log, and to end."""
        ended = asyncio.ensure_future(process.ended())
        silences, since = 0, time.monotonic()
        try:
            while not ended.done():
                await asyncio.wait([ended], timeout=_ASK_EVERY_S)
                silences = silences + 1 if not ended.done() and await self._care.hangs() else 0
                since = since if silences else time.monotonic()
                silent_s = time.monotonic() - since
                if silences >= _LEAST_SILENCES and silent_s > self._care.hung_after.total_seconds():
                    self._report(Hung(self.command.name, silent_s))
                    await self._care.leaves()
                    await process.abort()
        finally:
            ended.cancel()

    async def _again(self, pause_s: float) -> float:
        """Try until it is up; how long to pause when it dies again soon."""
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            try:
                await self.start()
            except CannotStart as error:
                self._report(Failed(self.command.name, str(error), pause_s))
            else:
                return pause_s

    async def _until_it_answers(self, process: Process) -> None:
        name = self.command.name
        deadline = time.monotonic() + self._care.start_timeout.total_seconds()
        while not await self._care.answers():
            if not process.is_running():
                raise CannotStart(
                    f"{name} cannot start: it {process.verdict()}, saying: {last_words(self._log)}"
                )
            if time.monotonic() > deadline:
                await process.stop()
                raise CannotStart(
                    f"{name} did not get ready in time; its last line is: {last_words(self._log)}"
                )
            await asyncio.sleep(0.05)
