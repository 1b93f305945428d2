"""A fleet that somebody else runs: its rotation through HAProxy's socket, its processes through their manager."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.fleet.errors import CannotStart, FleetError, NoSuchReplica, WouldBeOutage
from app.fleet.events import Drained, Progress, Report
from app.fleet.operations import LAST_ONE
from app.fleet.record import is_replica, number_of
from app.fleet.rotation import Rotation
from app.fleet.wishes import Wishes, usable

_INTO_ROTATION = timedelta(seconds=60)
_PLACE = "{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFleet:
    """Its replicas are the slots of HAProxy that point somewhere; without `wishes` only HAProxy is told."""

    rotation: Rotation
    wishes: Wishes | None
    report: Report
    grace: timedelta

    async def names(self) -> Sequence[str]:
        """The replicas, in order; raises `BalancerSilent`."""
        return sorted(
            (name for name in await self.rotation.runtime.servers() if is_replica(name)), key=number_of
        )

    async def drain(self, name: str, *, by: str, reason: str, force: bool = False) -> None:
        """Nothing new for it, and what it has finishes; raises `WouldBeOutage` for the last one."""
        reason = usable(reason)
        await self._known(name)
        if not (force or await self.rotation.has_others(name)):
            raise WouldBeOutage(LAST_ONE.format(name=name))
        if self.wishes is not None:
            await self.wishes.drain(name, by=by, reason=reason)
        self.report(Drained(name, idle=await self.rotation.drain(name, within=self.grace)))

    async def ready(self, name: str, *, by: str) -> None:
        """Back into rotation as soon as its checks pass; raises `CannotStart` where they do not."""
        await self._known(name)
        if self.wishes is not None:
            await self.wishes.undrain(name, by=by, reason="ready")
        await self.rotation.back(name)
        await self.rotation.all_up([name], self.report, within=_INTO_ROTATION)

    async def restart(self, command: str, *, max_unavailable: int, by: str) -> None:
        """Run the command for each replica while it is drained; stops after those among whom one does not come back."""
        if _PLACE not in command:
            raise FleetError(f"the command {command!r} does not say where the replica's name goes: {_PLACE}")
        _words(command)
        names = await self.names()
        serving = await self.rotation.serving() & set(names)
        if len(serving) <= max_unavailable:
            raise WouldBeOutage(
                f"{len(serving)} replicas in rotation with {max_unavailable} unavailable at once would be an outage; "
                "add a replica first, or give a smaller --max-unavailable"
            )
        for start in range(0, len(names), max_unavailable):
            batch = names[start : start + max_unavailable]
            await _all(*(self._restart(name, command, by) for name in batch))
            self.report(Progress("rolling restart", f"{start + len(batch)} of {len(names)} replicas"))

    async def _restart(self, name: str, command: str, by: str) -> None:
        """One that an operator drained is restarted where it is, and stays out."""
        kept_out = name in await self.rotation.runtime.kept_out()
        if not kept_out:
            await self.drain(name, by=by, reason="rolling restart")
        await _run(command.replace(_PLACE, shlex.quote(name)))
        if not kept_out:
            await self.ready(name, by=by)

    async def _known(self, name: str) -> None:
        names = await self.names()
        if name not in names:
            raise NoSuchReplica(f"HAProxy has no replica {name!r}; there are: {', '.join(names) or 'none'}")


async def _all(*works: Coroutine[Any, Any, None]) -> None:
    """All of it to its end, whatever becomes of one: none is left half-way. Raises the first failure."""
    for ended in await asyncio.gather(*works, return_exceptions=True):
        if ended is not None:
            raise ended


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise FleetError(f"the command {command!r} cannot be read: {error}") from error


async def _run(command: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*_words(command), stdin=asyncio.subprocess.DEVNULL)
    except OSError as error:
        raise CannotStart(f"{command}: {error.strerror}; the replica stays drained") from error
    if await process.wait() != 0:
        raise CannotStart(f"{command} exited with code {process.returncode}; the replica stays drained")
