"""Who gets requests: replicas join, drain and leave, and are waited for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta

from app.fleet.errors import BalancerSilent, CannotStart
from app.fleet.events import Joined, Report
from app.fleet.runtime import RuntimeApi

_LOOK_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Rotation:
    """HAProxy's slots. What only takes a replica out is quiet when HAProxy is away: then nobody gets anything."""

    runtime: RuntimeApi

    async def join(self, name: str, port: int) -> None:
        """Into rotation; one that is there already, and not drained, stays undisturbed. Raises `BalancerSilent`."""
        slot = (await self.runtime.servers()).get(name)
        there = slot is not None and slot.address == f"127.0.0.1:{port}"
        # A drained server whose checks fail is shown as DOWN, just as one that is only down.
        if not there or name in await self.runtime.kept_out():
            await self.runtime.join(name, port)

    async def join_drained(self, name: str, port: int) -> None:
        """Into its slot and out of rotation, as an operator wants it. Raises `BalancerSilent`."""
        await self.runtime.join_drained(name, port)

    async def back(self, name: str) -> None:
        """Into rotation again after a drain, as its checks say. Raises `BalancerSilent`."""
        await self.runtime.back(name)

    async def forget(self, name: str) -> None:
        """The slot is free for another."""
        with contextlib.suppress(BalancerSilent):
            await self.runtime.forget(name)

    async def leave(self, name: str) -> None:
        """Out at once, so that nobody has to find out that it is dead."""
        with contextlib.suppress(BalancerSilent):
            await self.runtime.leave(name)

    async def has_others(self, name: str) -> bool:
        """Whether somebody else would take the requests of that one. Raises `BalancerSilent`."""
        return bool(await self.serving() - {name})

    async def serving(self) -> AbstractSet[str]:
        """Who gets requests now. Raises `BalancerSilent`."""
        return {name for name, slot in (await self.runtime.servers()).items() if slot.state == "UP"}

    async def drain(self, name: str, *, within: timedelta) -> bool:
        """Nothing new for it; return once what it has is finished, or that time is over: whether it is idle."""
        deadline = time.monotonic() + within.total_seconds()
        with contextlib.suppress(BalancerSilent):
            await self.runtime.drain(name)
            while time.monotonic() < deadline:
                slot = (await self.runtime.servers()).get(name)
                if slot is None or slot.requests_running == 0:
                    return True
                await asyncio.sleep(_LOOK_EVERY_S)
        return False

    async def all_up(self, names: Iterable[str], report: Report, *, within: timedelta) -> None:
        """Return once every one of them has passed its checks; raises `CannotStart`, `BalancerSilent`."""
        missing = set(names)
        deadline = time.monotonic() + within.total_seconds()
        while missing:
            slots = await self.runtime.servers()
            up = {name for name in missing if name in slots and slots[name].state == "UP"}
            for name in sorted(up):
                report(Joined(name))
            missing -= up
            if missing and time.monotonic() > deadline:
                raise CannotStart(
                    f"HAProxy does not take {', '.join(sorted(missing))} into rotation; see its log"
                )
            await asyncio.sleep(_LOOK_EVERY_S)
