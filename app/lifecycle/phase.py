"""Where a process is in its life."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum


class Phase(Enum):
    """The four phases, in their only order; a start that is called off goes straight to DRAINING."""

    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleConfig:
    """How long the end may take."""

    # At least fall × inter + 1 s of the balancer's check (3 × 2 s + 1 s), so that it has noticed.
    drain_delay: timedelta = timedelta(seconds=8)
    shutdown_grace: timedelta = timedelta(seconds=30)

    def __post_init__(self) -> None:
        if min(self.drain_delay, self.shutdown_grace) < timedelta(0):
            raise ValueError("drain_delay and shutdown_grace cannot be negative")


class Lifecycle:
    """The phase of this process, and how many requests it is answering; built without I/O."""

    def __init__(self, config: LifecycleConfig | None = None) -> None:
        self.config = config or LifecycleConfig()
        self.in_flight = 0
        self.draining = asyncio.Event()
        """Set when the drain begins; an event stream that waits for it ends in time."""
        self._phase = Phase.STARTING
        self._held_out = False

    @property
    def phase(self) -> Phase:
        """Where the process is."""
        return self._phase

    @property
    def is_ready(self) -> bool:
        """Whether balancers should send requests here."""
        return self._phase is Phase.READY and not self._held_out

    @property
    def word(self) -> str:
        """What the probes say."""
        return "held out" if self._held_out and self._phase is Phase.READY else self._phase.value

    def hold_out(self) -> None:
        """An operator wants no new requests here; whoever comes is served all the same."""
        self._held_out = True

    def take_back(self) -> None:
        """The operator wants it back."""
        self._held_out = False

    def ready(self) -> None:
        """The start is over; changes nothing once the process drains."""
        if self._phase is Phase.STARTING:
            self._phase = Phase.READY

    def drain(self) -> None:
        """From now on balancers and clients should go elsewhere; changes nothing once stopped."""
        if self._phase is not Phase.STOPPED:
            self._phase = Phase.DRAINING
            self.draining.set()

    def stop(self) -> None:
        """Nobody is served any more."""
        self._phase = Phase.STOPPED
        self.draining.set()

    def __repr__(self) -> str:
        return f"<Lifecycle {self._phase.value}, {self.in_flight} in flight>"
