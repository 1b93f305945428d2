"""Whether a replica can open as many files and sockets as it will need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.doctor.finding import Check, Fault, Severity
from app.doctor.replicas import ask_all
from app.doctor.subject import Subject

_OTHERS: Final = 200
"""Logs, listening sockets, connections to Redis, templates being read, and room to breathe."""
_MAXCONN: Final = 200
"""What haproxy.cfg lets a replica have at once where nobody says otherwise."""


async def _look(subject: Subject) -> Sequence[Fault]:
    needed = _needed(subject)
    faults = []
    for name, told in (await ask_all(subject)).items():
        limit, used = told.about["open_files_limit"], told.about["open_files"]
        if limit < needed or used > 0.8 * limit:
            faults.append(
                Fault(
                    severity=Severity.ERROR if used > 0.8 * limit else Severity.WARNING,
                    what=f"{name} may open {limit} files and has {used} open; a full house needs about {needed}",
                    mend=f"raise the limit to {2 * needed} or more (LimitNOFILE of the unit, or ulimit -n)",
                )
            )
    return faults


def _needed(subject: Subject) -> int:
    settings = subject.one
    pools = settings.database_pool_size + settings.payments_pool_size
    backends = subject.balancer.backends() if subject.balancer else ()
    given = [section.option("maxconn") for section in backends]
    # Keep-alive connections of the balancer stay open beside those that are busy.
    return 2 * max([int(one) for one in given if one] or [_MAXCONN]) + pools + _OTHERS


DESCRIPTORS = Check(
    name="descriptors",
    why="at the limit a replica cannot accept a connection, nor open one to Redis or the database: it answers "
    "its health check on an old connection and fails everybody else",
    look=_look,
)
