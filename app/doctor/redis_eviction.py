"""Whether the Redis of the sessions may throw them away when it is full."""

from __future__ import annotations

from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.redis_nodes import NodeFacts, facts_of, session_url
from app.doctor.subject import Subject


async def _look(subject: Subject) -> Sequence[Fault]:
    nodes = await facts_of(session_url(subject.one))
    return [fault for node in nodes for fault in _faults(node)]


def _faults(node: NodeFacts) -> Sequence[Fault]:
    policy = node.info.get("maxmemory_policy", "noeviction")
    if policy == "noeviction":
        return []
    bounded = int(node.info.get("maxmemory", 0)) > 0
    return [
        Fault(
            severity=Severity.ERROR if bounded else Severity.WARNING,
            what=f"Redis {node.address} keeps sessions under maxmemory-policy {policy}"
            + ("" if bounded else "; no maxmemory is set yet, so nothing is evicted before one is"),
            mend="CONFIG SET maxmemory-policy noeviction, and give caches a server of their own (CHOPHO_CACHE_URL)",
        )
    ]


REDIS_EVICTION = Check(
    name="redis-eviction",
    why="a full Redis then deletes sessions that were not used lately: a shopper in the middle of an order is "
    "logged out and no error is written anywhere; with tokens, a revoked one comes back to life",
    look=_look,
)
