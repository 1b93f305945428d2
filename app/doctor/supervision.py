"""Whether somebody brings back what dies."""

from __future__ import annotations

from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import CannotLook, Subject


async def _look(subject: Subject) -> Sequence[Fault]:
    if subject.supervised is None:
        raise CannotLook("who supervises a configuration or a fleet of others is not known here")
    if subject.supervised:
        return []
    return [
        Fault(
            severity=Severity.ERROR,
            what="the fleet's supervisor is dead, and nobody has taken over",
            mend="run chopho up in the same state directory: it takes over what runs, without a restart",
        )
    ]


SUPERVISION = Check(
    name="supervision",
    why="a replica that dies or hangs now stays so, as app2 did on 6 May until somebody restarted it by hand",
    look=_look,
)
