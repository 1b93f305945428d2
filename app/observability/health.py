"""The components a replica depends on, looked at in the background.

Nobody waits for a component: `/health` tells what was seen last and how long ago. None of it is ever part
of liveness or readiness, since a dependency that all replicas share would empty the whole pool.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, TypedDict

from app.observability.scrub import scrub

_log = logging.getLogger(__name__)

State: TypeAlias = Literal["unknown", "up", "down"]

_PARTING_S: Final = 0.1
"""A look that was ended may take this long to clean up; it is left behind then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How to look at one component: `look` returns when it is well and raises when it is not.

    `without` says what the shop does while it is away; an essential one takes part of the shop with it.
    """

    name: str
    look: Callable[[], Awaitable[object]]
    essential: bool
    without: str
    timeout_s: float = 1.0
    every_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the last look showed; `at` on the monotonic clock, None before the first."""

    state: State = "unknown"
    at: float | None = None
    took_s: float | None = None
    why: str | None = None
    since: float | None = None


class ComponentReport(TypedDict):
    """One component as `/health` shows it."""

    state: State
    essential: bool
    age_s: float | None
    in_this_state_s: float | None
    took_ms: float | None
    why: str | None
    without: str


class HealthReport(TypedDict):
    """`up`: all well; `degraded`: something helpful is away; `down`: something essential is."""

    status: Literal["unknown", "up", "degraded", "down"]
    components: dict[str, ComponentReport]


class Components:
    """Looks at each component in its own rhythm and remembers what it saw."""

    def __init__(self, checks: Sequence[Check] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._seen: dict[str, Seen] = {}
        self._left: dict[str, asyncio.Future[object]] = {}
        for check in checks:
            self.add(check)

    @property
    def checks(self) -> Sequence[Check]:
        """In the order in which they were added."""
        return list(self._checks.values())

    def add(self, check: Check) -> None:
        """Look at one more; raises `ValueError` if the name is taken."""
        if check.name in self._checks:
            raise ValueError(f"there is a check {check.name} already")
        self._checks[check.name] = check
        self._seen[check.name] = Seen()

    async def run(self) -> None:
        """Look at all of them until cancelled."""
        async with asyncio.TaskGroup() as looking:
            for check in self._checks.values():
                looking.create_task(self._keep_looking(check))

    def report(self) -> HealthReport:
        """What was seen last; asks nobody."""
        now = self._clock()
        components = {name: _report(check, self._seen[name], now) for name, check in self._checks.items()}
        return {"status": _overall(list(components.values())), "components": components}

    def states(self) -> dict[str, State]:
        """The state of each, for the metrics."""
        return {name: seen.state for name, seen in self._seen.items()}

    async def look(self, check: Check) -> None:
        """Look once; while an earlier look hangs and cannot be ended, there is no other."""
        began = self._clock()
        why = await self._what_is_wrong(check)
        now = self._clock()
        before = self._seen[check.name]
        state: State = "up" if why is None else "down"
        after = Seen(state=state, at=now, took_s=now - began, why=why, since=now)
        if before.state == state:
            after = replace(after, since=before.since)
        elif why is not None or before.state == "down":
            level = logging.WARNING if why else logging.INFO
            _log.log(level, "component %s is %s: %s", check.name, state, why or "answers")
        self._seen[check.name] = after

    async def _what_is_wrong(self, check: Check) -> str | None:
        late = f"no answer within {check.timeout_s:g} s"
        left = self._left.get(check.name)
        if left is not None and not left.done():
            return late
        look = self._left[check.name] = asyncio.ensure_future(check.look())
        try:
            done, _ = await asyncio.wait({look}, timeout=check.timeout_s)
        finally:
            look.cancel()
            look.add_done_callback(_retrieved)
        if not done:
            await asyncio.wait({look}, timeout=_PARTING_S)
            return late
        if look.cancelled():
            return late
        error = look.exception()
        return None if error is None else f"{type(error).__name__}: {scrub(str(error), limit=200)}"

    async def _keep_looking(self, check: Check) -> None:
        while True:
            await self.look(check)
            await asyncio.sleep(check.every_s)


def _retrieved(look: asyncio.Future[object]) -> None:
    if not look.cancelled():
        look.exception()  # seen, also when nobody waits for it any more


def _report(check: Check, seen: Seen, now: float) -> ComponentReport:
    return {
        "state": seen.state,
        "essential": check.essential,
        "age_s": None if seen.at is None else round(now - seen.at, 1),
        "in_this_state_s": None if seen.since is None else round(now - seen.since, 1),
        "took_ms": None if seen.took_s is None else round(seen.took_s * 1000, 1),
        "why": seen.why,
        "without": check.without,
    }


def _overall(components: Sequence[ComponentReport]) -> Literal["unknown", "up", "degraded", "down"]:
    if any(component["state"] == "down" and component["essential"] for component in components):
        return "down"
    if any(component["state"] == "down" for component in components):
        return "degraded"
    if any(component["state"] == "unknown" for component in components):
        return "unknown"
    return "up"
