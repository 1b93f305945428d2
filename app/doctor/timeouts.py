"""Whether the times of the balancer, the replicas and their supervisor fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.doctor.balancer import Balancer, Section, seconds
from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import CannotLook, Subject
from app.lifecycle.server import KEEP_ALIVE_S
from app.planning.timeouts import OVERDUE_S, BalancerTimes, CheckTimes, ReplicaTimes, mismatches
from app.settings import Settings
from app.stores.database import DatabaseConfig

_INTER_S: Final = 2.0
_FALL: Final = 3
"""HAProxy's own, where a file says nothing."""


async def _look(subject: Subject) -> Sequence[Fault]:
    if subject.balancer is None:
        raise CannotLook("no haproxy.cfg was given; name it with --haproxy")
    found = {
        mismatch.what: Fault(severity=Severity.ERROR, what=mismatch.what, mend=mismatch.mend)
        for backend in subject.balancer.backends()
        for settings in subject.settings.values()
        for mismatch in mismatches(
            balancer_times(subject.balancer, backend), replica_times(settings, stop_s=subject.stop_timeout_s)
        )
    }
    return list(found.values())


def balancer_times(balancer: Balancer, backend: Section) -> BalancerTimes:
    """The times of one backend; where HAProxy would wait for ever, that is infinite."""

    def time(words: str, otherwise: float = float("inf")) -> float:
        given = balancer.time_s(words, backend=backend)
        return otherwise if given is None else given

    inter = seconds(backend.option("inter") or "2s")
    server = time("timeout server")
    quick = [seconds(one) for one in backend.all_of("http-request set-timeout server")]
    return BalancerTimes(
        check=CheckTimes(
            inter=inter,
            fast_inter=seconds(backend.option("fastinter") or f"{round(inter * 1000)}ms"),
            fall=int(backend.option("fall") or _FALL),
            timeout=time("timeout check", inter),
        ),
        queue=time("timeout queue", time("timeout connect")),
        client=time("timeout client"),
        server=server,
        get=min([server, *quick]),
        client_keep_alive=time("timeout http-keep-alive", time("timeout client")),
    )


def replica_times(settings: Settings, *, stop_s: float | None) -> ReplicaTimes:
    """The times of a replica with these settings; `stop_s` None: nobody says how long its stop may take."""
    return ReplicaTimes(
        drain_delay=settings.drain_delay.total_seconds(),
        shutdown_grace=settings.shutdown_grace.total_seconds(),
        stop=float("inf") if stop_s is None else stop_s,
        keep_alive=KEEP_ALIVE_S,
        overdue=OVERDUE_S,
        database=DatabaseConfig(url=settings.database_url).answer_within_s,
        longest_call=settings.payments_timeout.total_seconds(),
    )


TIMEOUTS = Check(
    name="timeouts",
    why="requests are lost in the gap between two times that disagree: a replica that stops before the balancer "
    "has noticed, a connection closed under a request, an order carried out after its sender was told 504",
    look=_look,
)
