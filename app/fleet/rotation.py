"""Who gets requests: replicas join, drain and leave, and are waited for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
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
        there = slot is not None and slot.address == f"127.0.0.1:{port}" and slot.state in {"UP", "DOWN"}
        if not there:
            await self.runtime.join(name, port)

    async def leave(self, name: str) -> None:
        """Out at once, so that nobody has to find out that it is dead."""
        with contextlib.suppress(BalancerSilent):
            await self.runtime.leave(name)

    async def drain(self, name: str, *, within: timedelta) -> None:
        """Nothing new for it; return once what it has is finished, or that time is over."""
        deadline = time.monotonic() + within.total_seconds()
        with contextlib.suppress(BalancerSilent):
            await self.runtime.drain(name)
            while time.monotonic() < deadline:
                slot = (await self.runtime.servers()).get(name)
                if slot is None or slot.requests_running == 0:
                    return
                await asyncio.sleep(_LOOK_EVERY_S)

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
