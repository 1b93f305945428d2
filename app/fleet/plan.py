"""What the fleet is to do by itself: its schedule and its autoscaling, in a file of the state directory."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from pathlib import Path

from pydantic import BaseModel, ValidationError

from app.fleet.errors import StateUnusable
from app.fleet.state import write_privately
from app.planning.scaling import ScalingPolicy
from app.planning.schedule import Entry


class ScheduleLine(BaseModel):
    """One entry, and the number it is removed by."""

    id: int
    start: time
    until: time
    replicas: int

    def entry(self) -> Entry:
        """As it is planned with."""
        return Entry(start=self.start, until=self.until, replicas=self.replicas)


class AutoscaleLine(BaseModel):
    """Replicas by their load."""

    cpu_percent: float
    window_s: float
    least: int
    most: int

    def policy(self) -> ScalingPolicy:
        """As it is planned with; raises `ValueError` for what cannot be meant."""
        return ScalingPolicy(
            cpu_percent=self.cpu_percent,
            window=timedelta(seconds=self.window_s),
            least=self.least,
            most=self.most,
        )


class Plan(BaseModel):
    """Read by the supervisor every few seconds; commands change it whether or not a fleet runs."""

    schedule: list[ScheduleLine] = []
    autoscale: AutoscaleLine | None = None

    @classmethod
    def load(cls, file: Path) -> Plan:
        """The plan, empty where there is none; raises `StateUnusable`."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise StateUnusable(f"cannot read {file}: {error.strerror}") from error
        except ValidationError as error:
            raise StateUnusable(f"{file} is damaged; remove it and plan again") from error

    @classmethod
    @contextmanager
    def changing(cls, file: Path) -> Iterator[Plan]:
        """The plan, written back after the block; nobody else changes it meanwhile."""
        try:
            lock = file.with_suffix(".lock").open("a")
        except OSError as error:
            raise StateUnusable(f"cannot write {file}: {error.strerror}") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            plan = cls.load(file)
            yield plan
            write_privately(file, plan.model_dump_json(indent=1))

    def add(self, entry: Entry) -> ScheduleLine:
        """One more entry, with a number of its own."""
        number = max((line.id for line in self.schedule), default=0) + 1
        line = ScheduleLine(id=number, start=entry.start, until=entry.until, replicas=entry.replicas)
        self.schedule.append(line)
        return line

    def remove(self, number: int) -> ScheduleLine | None:
        """The entry that is there no more, or None where there was none."""
        line = next((line for line in self.schedule if line.id == number), None)
        if line is not None:
            self.schedule.remove(line)
        return line
