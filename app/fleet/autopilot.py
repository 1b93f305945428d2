"""The fleet scales itself: by the clock, and by its load."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.fleet.errors import Busy, FleetError
from app.fleet.events import Progress, Report
from app.fleet.plan import Plan
from app.planning.scaling import Decision, Observation, decide
from app.planning.schedule import scheduled

LOOK_EVERY_S: Final = 2.0
# The longest window that makes sense is an hour.
_REMEMBERED: Final = 1800
_AFTER_FAILURE_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruments:
    """What the autopilot sees and moves.

    `wanted` is how many replicas the operator asked for, `cpu_percent` the mean load of a replica since it was last
    asked (None: not known yet); `scale` raises `FleetError`.
    """

    plan: Callable[[], Plan]
    wanted: Callable[[], int]
    replicas: Callable[[], int]
    cpu_percent: Callable[[], float | None]
    scale: Callable[[Decision], Awaitable[None]]
    report: Report
    clock: Callable[[], float]
    now: Callable[[], datetime]


class Autopilot:
    """Looks every two seconds; what it does goes the way of every order, with its reason."""

    def __init__(self, instruments: Instruments) -> None:
        self._see = instruments
        self._observed: deque[Observation] = deque(maxlen=_REMEMBERED)
        self._not_before_s = float("-inf")
        self._complaint = ""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Observe, and scale when it is time; a failure is told once and tried again a minute later."""
        self._observe()
        if self._see.clock() < self._not_before_s:
            return
        try:
            decision = self._decide(self._see.plan())
            if decision is not None:
                await self._see.scale(decision)
            self._complaint = ""
        except Busy:
            return
        except FleetError as failed:
            self._not_before_s = self._see.clock() + _AFTER_FAILURE_S
            if str(failed) != self._complaint:
                self._see.report(Progress("autopilot", str(failed)))
            self._complaint = str(failed)

    def _observe(self) -> None:
        percent = self._see.cpu_percent()
        if percent is not None:
            self._observed.append(
                Observation(at_s=self._see.clock(), cpu_percent=percent, replicas=self._see.replicas())
            )

    def _decide(self, plan: Plan) -> Decision | None:
        entry = scheduled((line.entry() for line in plan.schedule), self._see.now())
        by_clock = entry.replicas if entry is not None else 0
        replicas = self._see.replicas()
        if plan.autoscale is not None:
            return decide(
                plan.autoscale.policy(),
                list(self._observed),
                replicas=replicas,
                scheduled=by_clock,
                now_s=self._see.clock(),
            )
        target = max(self._see.wanted(), by_clock)
        if target == replicas:
            return None
        return Decision(
            replicas=target, why=f"the schedule says {entry}" if entry else "as the operator wants"
        )
