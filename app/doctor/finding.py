"""What a check finds, and how bad it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from app.doctor.subject import Subject


class Severity(IntEnum):
    """`NOTE`: could not be looked at, or good to know. `WARNING`: will hurt one day. `ERROR`: hurts already."""

    NOTE = 1
    WARNING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong, in one sentence, and what mends it."""

    severity: Severity
    what: str
    mend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing to look at. `why` says what it leads to, with the incident it is known from.

    `look` may raise `CannotLook`; whatever else it cannot reach is its own business to tell.
    """

    name: str
    why: str
    look: Callable[[Subject], Awaitable[Sequence[Fault]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault, with the check that found it."""

    check: str
    severity: Severity
    what: str
    why: str
    mend: str
