"""The replicas of a fleet: brought up, kept, replaced and ended one by one, each in its own slot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.fleet.member import Member
from app.fleet.record import ProcessRecord, number_of
from app.fleet.rotation import Rotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the replicas need of their fleet.

    `make` puts one together with the settings of now; `grace` is how long its requests may take to finish.
    """

    make: Callable[[str], Member]
    rotation: Rotation
    grace: timedelta


class Replicas:
    """Those that are wanted, by name; each is kept until it is retired."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._members: dict[str, Member] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}

    @property
    def names(self) -> Sequence[str]:
        """All of them, in order."""
        return sorted(self._members, key=number_of)

    def is_up(self, name: str) -> bool:
        """Whether it runs and answers."""
        return name in self._members and self._members[name].is_up

    async def bring_up(self, name: str, earlier: ProcessRecord | None = None) -> None:
        """Start or adopt it, and keep it from then on, also one that does not start: raises `CannotStart`."""
        member = self._members[name] = self._setting.make(name)
        try:
            await member.start(earlier)
        finally:
            self._keepers[name] = asyncio.create_task(member.keep())

    async def retire(self, name: str) -> None:
        """Nothing new for it, what it has finishes, then it goes and is wanted no more."""
        await self._setting.rotation.drain(name, within=self._setting.grace)
        await self._stop_keeping(name)
        member = self._members[name]
        await member.stop()
        del self._members[name]

    async def replace(self, name: str) -> None:
        """Retire it and bring it up again with the settings and the code of now; raises `CannotStart`."""
        await self.retire(name)
        await self.bring_up(name)

    async def stop_keeping(self) -> None:
        """Whatever ends from now on stays away."""
        await asyncio.gather(*(self._stop_keeping(name) for name in self.names))

    def kill(self) -> None:
        """End all of them at once."""
        for member in self._members.values():
            member.kill()

    async def _stop_keeping(self, name: str) -> None:
        keeper = self._keepers.pop(name, None)
        if keeper is not None:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)
