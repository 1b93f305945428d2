"""What a breaker tells its listeners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from .errors import NotPermitted
from .events import (
    CallNotPermitted,
    Error,
    Event,
    FailureRateExceeded,
    IgnoredError,
    Listener,
    Reset,
    SlowCallRateExceeded,
    StateTransition,
    Success,
    tell,
)
from .states import BreakerState, Rate
from .window import Tally

Verdict: TypeAlias = Literal["successful", "failed", "ignored"]


class Announcer:
    """Speaks for the breaker called `name`; silent and free when nobody listens."""

    def __init__(self, name: str, listeners: Sequence[Listener]) -> None:
        self.name = name
        self.listeners = tuple(listeners)

    def refused(self, refusal: NotPermitted) -> None:
        """A call was refused."""
        tell(self.listeners, CallNotPermitted(name=self.name, state=refusal.state))

    def reset(self) -> None:
        """Somebody made it forget."""
        tell(self.listeners, Reset(name=self.name))

    def outcome(
        self, verdict: Verdict, error: BaseException | None, duration_s: float, *, slow: bool, counted: bool
    ) -> None:
        """A call ended."""
        if not self.listeners:
            return
        name = self.name
        event: Event
        match verdict:
            case "successful":
                event = Success(name=name, duration_s=duration_s, slow=slow, counted=counted)
            case "failed":
                event = Error(name=name, duration_s=duration_s, slow=slow, counted=counted, error=error)
            case "ignored":
                event = IgnoredError(name=name, duration_s=duration_s, error=error)
        tell(self.listeners, event)

    def change(self, before: BreakerState, after: BreakerState, now: float) -> None:
        """A state followed another: the rates that were reached first, then the transition."""
        if not self.listeners:
            return
        for rate in sorted(after.exceeded(now) - before.exceeded(now)):
            tell(self.listeners, self._exceeded(rate, after.tally(now)))
        if before.name is not after.name:
            tell(self.listeners, StateTransition(name=self.name, before=before.name, after=after.name))

    def _exceeded(self, rate: Rate, tally: Tally) -> Event:
        if rate == "failure":
            return FailureRateExceeded(name=self.name, rate=tally.failure_rate)
        return SlowCallRateExceeded(name=self.name, rate=tally.slow_rate)
