"""What a fleet tells while it lives; whoever listens prints, logs or counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to a process; `str` is the sentence."""

    name: str


@dataclass(frozen=True, slots=True)
class Started(Event):
    """It runs and answers."""

    pid: int
    seconds: float
    adopted: bool = False

    def __str__(self) -> str:
        how = "was still running" if self.adopted else f"is up after {self.seconds:.1f} s"
        return f"{self.name} {how} (pid {self.pid})"


@dataclass(frozen=True, slots=True)
class Done(Event):
    """A task with an end reached it."""

    seconds: float

    def __str__(self) -> str:
        return f"{self.name} done after {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class Died(Event):
    """It ended although nobody asked it to."""

    verdict: str
    last_words: str
    retry_in_s: float

    def __str__(self) -> str:
        return f"{self.name} {self.verdict}; again in {self.retry_in_s:g} s; its last line was: {self.last_words}"


@dataclass(frozen=True, slots=True)
class Hung(Event):
    """It runs and does not answer."""

    seconds: float

    def __str__(self) -> str:
        return f"{self.name} has not answered for {self.seconds:.0f} s: ending it, its stacks are in its log"


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """It did not come back; it will be tried again."""

    reason: str
    retry_in_s: float

    def __str__(self) -> str:
        return f"{self.reason}; again in {self.retry_in_s:g} s"


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """It ended as it was asked to, or had to be killed."""

    seconds: float
    killed: bool = False

    def __str__(self) -> str:
        how = "had to be killed" if self.killed else "stopped"
        return f"{self.name} {how} after {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class Joined(Event):
    """A replica is in rotation."""

    def __str__(self) -> str:
        return f"{self.name} is in rotation"


@dataclass(frozen=True, slots=True)
class Drained(Event):
    """It gets nothing new, and what it had is finished, or takes longer than its grace."""

    idle: bool

    def __str__(self) -> str:
        return f"{self.name} is out of rotation and {'idle' if self.idle else 'still busy'}"


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """An order was carried out so far."""

    far: str

    def __str__(self) -> str:
        return f"{self.name}: {self.far}"


@dataclass(frozen=True, slots=True)
class Untold(Event):
    """HAProxy obeys; the replica itself has not heard of it."""

    reason: str

    def __str__(self) -> str:
        return f"{self.name} itself was not told: {self.reason}; HAProxy was"


@dataclass(frozen=True, slots=True)
class DiskLow(Event):
    """There is less room than is wanted; what writes will stop first."""

    free: int
    reserve: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {_mib(self.free)} are free, less than the {_mib(self.reserve)} that should be; "
            "make room before Redis and PostgreSQL cannot write"
        )


@dataclass(frozen=True, slots=True)
class Unwritten(Event):
    """The fleet goes on; what it should have written down is only in its supervisor's mind."""

    reason: str

    def __str__(self) -> str:
        return f"{self.name} is not written: {self.reason}; it will be once there is room, so do not end the supervisor"


@dataclass(frozen=True, slots=True)
class DiskWell(Event):
    """There is room again."""

    free: int

    def __str__(self) -> str:
        return f"{self.name}: {_mib(self.free)} are free again"


def _mib(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MiB"


Report = Callable[[Event], None]
