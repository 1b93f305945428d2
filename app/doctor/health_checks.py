"""Whether the balancer asks replicas if they serve, or only if their port is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.doctor.balancer import Section
from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import CannotLook, Silent, Subject
from app.fleet.errors import BalancerSilent
from app.fleet.runtime import RuntimeApi

_UNCHECKED: Final = Fault(
    severity=Severity.ERROR,
    what="no backend of haproxy.cfg checks its servers at all",
    mend="write check behind every server, or into default-server, and option httpchk into the backend",
)


async def _look(subject: Subject) -> Sequence[Fault]:
    if subject.balancer is None and subject.socket is None:
        raise CannotLook(
            "no haproxy.cfg and no runtime socket were given; name one with --haproxy or --socket"
        )
    if subject.balancer is not None and not subject.balancer.backends():
        return [_UNCHECKED]
    written = [_written(section) for section in (subject.balancer.backends() if subject.balancer else ())]
    return [fault for fault in written if fault] or await _running(subject)


def _written(section: Section) -> Fault | None:
    if section.has("option httpchk"):
        return None
    return Fault(
        severity=Severity.ERROR,
        what=f"`{section.head}` checks its servers without `option httpchk`: it only opens a connection",
        mend="add option httpchk, http-check send meth GET uri /health/readiness ver HTTP/1.1 hdr Host …, "
        "and http-check expect status 200; of the shop's own file, unset LB_TCP_CHECK",
    )


async def _running(subject: Subject) -> Sequence[Fault]:
    """What HAProxy does now: an L4 check was a mere connection, whatever the file says by now."""
    if subject.socket is None:
        return []
    try:
        servers = await RuntimeApi(subject.socket).servers()
    except BalancerSilent as silent:
        raise Silent(str(silent)) from silent
    connecting = sorted(name for name, server in servers.items() if server.check.startswith("L4OK"))
    if not connecting:
        return []
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"HAProxy is running connection checks of {', '.join(connecting)}",
            mend="start it with option httpchk (LB_TCP_CHECK unset) and reload",
        )
    ]


HEALTH_CHECKS = Check(
    name="health-checks",
    why="the kernel accepts connections for a process that hangs: on 6 May app2 stayed UP for 23 minutes while it "
    "answered nobody, up to 41,400 requests failed, each after half a minute; with httpchk it is out in seconds",
    look=_look,
)
