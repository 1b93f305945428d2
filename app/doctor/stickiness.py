"""Whether the balancer keeps visitors at one replica where it should not, or not where it must."""

from __future__ import annotations

from collections.abc import Sequence

from app.doctor.balancer import Section
from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import CannotLook, Subject


async def _look(subject: Subject) -> Sequence[Fault]:
    if subject.balancer is None:
        raise CannotLook("no haproxy.cfg was given; name it with --haproxy")
    in_memory = subject.one.session_url.startswith("memory://")
    sticky = [section for section in subject.balancer.backends() if _sticks(section)]
    if in_memory and not sticky and subject.replicas > 1:
        return [
            Fault(
                severity=Severity.ERROR,
                what=f"sessions are kept in the memory of each of {subject.replicas} replicas, "
                "and the balancer sends every request to another one",
                mend="set CHOPHO_SESSION_URL to a Redis; to show what goes wrong, set LB_STICKY",
            )
        ]
    if in_memory:
        return []
    return [
        Fault(
            severity=Severity.WARNING,
            what=f"`{section.head}` keeps visitors at one replica, though sessions are shared",
            mend="unset LB_STICKY (or remove the cookie, stick and balance-source lines) and reload",
        )
        for section in sticky
    ]


def _sticks(section: Section) -> bool:
    return any(
        line.startswith(("cookie ", "stick on ", "stick match ", "balance source")) for line in section.lines
    )


STICKINESS = Check(
    name="stickiness",
    why="a sticky visitor goes down with their replica, and drained or new replicas take minutes to empty and to "
    "fill; half of all visitors hung on the one replica that hung on 6 May",
    look=_look,
)
