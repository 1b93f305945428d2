"""New keys for cookies and tokens, in steps that log nobody out."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, get_args

from app.fleet.errors import FleetError
from app.fleet.events import Progress, Report
from app.fleet.state import StateDirectory

_NAME = "rotation of the keys"

Step = Literal["announced", "signing", "signed"]
_STEPS: Final[Mapping[str, Step]] = {step: step for step in get_args(Step)}


@dataclass(frozen=True, slots=True)
class Rotation:
    """How far a rotation is: all replicas learn to verify with the new key, then sign with it; then the old waits."""

    step: Step
    since: datetime

    @classmethod
    def read(cls, written: str) -> Rotation | None:
        """As secrets.json keeps it; None where none is under way."""
        step, _, since = written.partition(" ")
        return cls(_STEPS[step], datetime.fromisoformat(since)) if step in _STEPS else None

    def __str__(self) -> str:
        return f"{self.step} {self.since.isoformat()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys of a fleet; each step is written down with its keys before it is taken, so a rotation can be resumed.

    `restart` replaces every replica without losing a request; `longest` is how long anything signed may live.
    """

    state: StateDirectory
    restart: Callable[[], Awaitable[None]]
    longest: timedelta
    report: Report

    async def rotate(self) -> None:
        """A new key, known to all before any signs with it; takes up a rotation that was cut off."""
        rotation = self._rotation()
        if rotation is not None and rotation.step == "signed":
            raise FleetError(
                f"the key before the last rotation still verifies what it signed, until {self._end(rotation)}; "
                "retire it then with `chopho secrets retire`"
            )
        if rotation is None:
            old = self.state.secrets().session_key
            self._write(f"{old},{secrets.token_urlsafe(48)}", "announced")
            rotation = self._rotation()
        if rotation is not None and rotation.step == "announced":
            self._tell("every replica learns to verify with the new key")
            await self.restart()
            old, new = self.state.secrets().session_key.split(",")
            self._write(f"{new},{old}", "signing")
        self._tell("every replica signs with the new key")
        await self.restart()
        self._write(self.state.secrets().session_key, "signed")
        self._tell(
            "the old key only verifies; `chopho secrets retire` ends it when what it signed has expired"
        )

    async def retire(self, *, force: bool = False) -> None:
        """End the old key; whoever still has something it signed is logged out, so not before its time."""
        rotation = self._rotation()
        if rotation is None:
            raise FleetError("there is no old key to retire")
        if rotation.step != "signed":
            raise FleetError("the rotation was cut off; take it up with `chopho secrets rotate`")
        if datetime.now(UTC) < rotation.since + self.longest and not force:
            raise FleetError(
                f"what the old key signed may live until {self._end(rotation)}; "
                "--force logs out whoever still has it, as when the key was stolen"
            )
        self._write(self.state.secrets().session_key.split(",")[0], "signed")
        await self.restart()
        self.state.change_secrets(rotation="")
        self._tell("there is one key")

    def _rotation(self) -> Rotation | None:
        return Rotation.read(self.state.secrets().rotation)

    def _write(self, keys: str, step: Step) -> None:
        """Both in one file, so that neither is ever without the other."""
        self.state.change_secrets(session_key=keys, rotation=str(Rotation(step, datetime.now(UTC))))

    def _end(self, rotation: Rotation) -> str:
        return f"{rotation.since + self.longest:%Y-%m-%d %H:%M:%SZ}"

    def _tell(self, words: str) -> None:
        self.report(Progress(_NAME, words))
