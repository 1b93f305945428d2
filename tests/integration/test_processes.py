"""Processes that are started, found again, brought back and ended."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from app.fleet.errors import CannotStart
from app.fleet.events import Died, Event, Failed, Started, Stopped
from app.fleet.member import Care, Member
from app.fleet.processes import Command, find, launch
from app.fleet.record import ProcessRecord
from app.fleet.state import StateDirectory
from tests.conftest import wait_until

PYTHON = sys.executable


def command(code: str, **told: str) -> Command:
    return Command(
        name="worker", argv=[PYTHON, "-c", code], environment=told, stop_timeout=timedelta(seconds=0.3)
    )


class Watched:
    """A member of a fleet, and everything that was told of it."""

    def __init__(self, folder: Path, code: str, *, answers: bool = True, timeout_s: float = 20) -> None:
        self.state = StateDirectory(folder)
        self.state.make()
        self.events: list[Event] = []
        self.records: list[ProcessRecord | None] = []
        self.code = code
        self._members: list[Member] = []
        self.answers = answers
        self._timeout = timedelta(seconds=timeout_s)

    def member(self, code: str | None = None) -> Member:
        async def answering() -> bool:
            return self.answers

        care = Care(
            answers=answering,
            noted=lambda _, record: self.records.append(record),
            start_timeout=self._timeout,
        )
        member = Member(command(code or self.code), self.state, care, self.events.append)
        self._members.append(member)
        return member

    async def end(self) -> None:
        """Nothing is left; what was adopted here is our own child all the same."""
        for member in self._members:
            await member.stop()


SLEEP = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


async def test_a_process_is_found_by_pid_and_start_time_alone(tmp_path: Path) -> None:
    process = launch(command(SLEEP), tmp_path / "log")
    found = find(process.record)
    assert found is not None
    assert found.pid == process.pid
    another = {"started": process.record.started - 60, "began": process.record.began - 60}
    assert find(process.record.model_copy(update=another)) is None
    assert find(process.record.model_copy(update={"boot": "of yesterday"})) is None
    clock_was_set = {"started": process.record.started - 3}
    assert find(process.record.model_copy(update=clock_was_set)) is not None
    of_an_older_release = {"boot": "", "began": 0.0}
    assert find(process.record.model_copy(update=of_an_older_release)) is not None
    await found.stop()
    await process.ended()
    assert find(process.record) is None


async def test_a_process_has_a_session_of_its_own_and_no_input(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getsid(0) == os.getpid(), repr(sys.stdin.read()), os.environ['TOLD'])"
    process = launch(command(code, TOLD="so"), tmp_path / "log")
    await process.ended()
    assert process.succeeded()
    assert (tmp_path / "log").read_text() == "True '' so\n"


async def test_a_process_that_does_not_listen_is_ended_all_the_same(tmp_path: Path) -> None:
    process = launch(command(STUBBORN), tmp_path / "log")
    await asyncio.to_thread(wait_until, lambda: (tmp_path / "log").read_text() == "deaf\n")
    assert not await process.stop()
    assert process.verdict() == "was killed by SIGKILL"


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="worker cannot start: /not/there: No such file"):
        launch(Command(name="worker", argv=["/not/there"]), tmp_path / "log")


async def test_a_member_that_keeps_dying_is_brought_back_with_growing_pauses(tmp_path: Path) -> None:
    watched = Watched(tmp_path, "print('out of luck')")
    member = watched.member()
    await member.start()
    keeping = asyncio.create_task(member.keep())
    await asyncio.to_thread(wait_until, lambda: sum(isinstance(it, Died) for it in watched.events) == 4)
    keeping.cancel()
    died = [event for event in watched.events if isinstance(event, Died)]
    assert [event.retry_in_s for event in died] == [0.2, 0.4, 0.8, 1.6]
    assert str(died[0]) == "worker exited with code 0; again in 0.2 s; its last line was: out of luck"


async def test_a_member_that_cannot_come_back_is_tried_again(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    once = (
        f"import pathlib, time; p = pathlib.Path({str(marker)!r}); p.exists() or (p.touch(), time.sleep(.5))"
    )
    watched = Watched(tmp_path / "state", once)
    member = watched.member()
    await member.start()
    watched.answers = False
    keeping = asyncio.create_task(member.keep())
    await asyncio.to_thread(wait_until, lambda: sum(isinstance(it, Failed) for it in watched.events) == 2)
    keeping.cancel()
    assert not member.is_up
    assert "worker cannot start: it exited with code 0" in str(watched.events[-1])


async def test_a_member_that_does_not_get_ready_in_time_is_ended_and_told(tmp_path: Path) -> None:
    watched = Watched(
        tmp_path, "import time; print('waiting', flush=True); time.sleep(60)", answers=False, timeout_s=1
    )
    with pytest.raises(CannotStart, match="did not get ready in time; its last line is: waiting"):
        await watched.member().start()
    record = watched.records[0]
    assert record is not None
    assert find(record) is None


async def test_a_member_adopts_what_was_told_the_same_and_ends_what_was_not(tmp_path: Path) -> None:
    watched = Watched(tmp_path, SLEEP)
    await watched.member().start()
    earlier = watched.records[0]
    assert earlier is not None
    adopting = watched.member()
    await adopting.start(earlier)
    assert watched.records[1] == earlier
    assert str(watched.events[-1]) == f"worker was still running (pid {earlier.pid})"
    other = watched.member(f"{SLEEP}  # told otherwise")
    await other.start(earlier)
    assert find(earlier) is None
    started = watched.events[-1]
    assert isinstance(started, Started)
    assert not started.adopted
    await other.stop()
    assert isinstance(watched.events[-1], Stopped)
    assert watched.records[-1] is None
    await watched.end()


async def test_the_death_of_an_adopted_member_is_noticed(tmp_path: Path) -> None:
    watched = Watched(tmp_path, SLEEP)
    await watched.member().start()
    adopting = watched.member()
    await adopting.start(watched.records[0])
    keeping = asyncio.create_task(adopting.keep())
    adopting.kill()
    await asyncio.to_thread(wait_until, lambda: len(watched.events) == 4)
    keeping.cancel()
    assert [type(event) for event in watched.events] == [Started, Started, Died, Started]
    assert str(watched.events[2]).startswith("worker ended; again in 0.2 s")
    await watched.end()
