"""Whether sessions survive a restart of their Redis."""

from __future__ import annotations

from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.redis_nodes import NodeFacts, facts_of, session_url
from app.doctor.subject import Subject


async def _look(subject: Subject) -> Sequence[Fault]:
    nodes = await facts_of(session_url(subject.one))
    return [fault for node in nodes for fault in (*_unsaved(node), *_failing(node))]


def _unsaved(node: NodeFacts) -> Sequence[Fault]:
    if node.info.get("aof_enabled") or node.save:
        return []
    told = "keeps nothing on disk (appendonly no, no save points)"
    if node.save is None:
        told = "has no append-only file, and does not say whether it saves snapshots"
    return [
        Fault(
            severity=Severity.WARNING,
            what=f"Redis {node.address} {told}",
            mend="set appendonly yes with appendfsync everysec: at most one second of sessions is lost then",
        )
    ]


def _failing(node: NodeFacts) -> Sequence[Fault]:
    failed = [
        name
        for name, field in (
            ("snapshot", "rdb_last_bgsave_status"),
            ("append-only file", "aof_last_write_status"),
        )
        if node.info.get(field, "ok") != "ok"
    ]
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"Redis {node.address} could not write its {name}",
            mend="look at its log and its disk; while this lasts it refuses writes (MISCONF) and shoppers get 503",
        )
        for name in failed
    ]


REDIS_PERSISTENCE = Check(
    name="redis-persistence",
    why="a restart of that Redis logs everybody out at once and empties the carts of visitors: the fault of "
    "sessions in the memory of one machine, which moving them out was meant to end",
    look=_look,
)
