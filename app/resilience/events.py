"""What the parts tell: frozen events, and listeners that can never break a call.

The names are resilience4j's, so that its dashboards and its users' knowledge carry over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something happened at the part called `name`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Success(Event):
    """A call succeeded; `counted` is False when its answer came too late to matter."""

    duration_s: float
    slow: bool
    counted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(Event):
    """A call failed; `error` is None when the caller judged an answer a failure."""

    duration_s: float
    slow: bool
    counted: bool
    error: BaseException | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredError(Event):
    """A call that says nothing about the dependency: a 404, a client that hung up, our own overload."""

    duration_s: float
    error: BaseException | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNotPermitted(Event):
    """The breaker refused a call."""

    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTransition(Event):
    """The breaker went from one state to another."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Event):
    """Somebody closed the breaker and made it forget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRateExceeded(Event):
    """The failure rate reached its threshold; `rate` in percent."""

    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCallRateExceeded(Event):
    """The rate of slow calls reached its threshold; `rate` in percent."""

    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPermitted(Event):
    """A compartment gave a place away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRejected(Event):
    """A compartment was full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished(Event):
    """A compartment got a place back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried(Event):
    """Attempt number `attempt` (the first call is 1) follows after `wait_s`."""

    attempt: int
    wait_s: float
    error: BaseException


Listener = Callable[[Event], None]


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Tell every listener; one that raises is logged, and neither the call nor the next listener notices."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:  # noqa: BLE001  a broken metric must not fail a payment
            _log.warning("a listener failed on %r", event, exc_info=True)
