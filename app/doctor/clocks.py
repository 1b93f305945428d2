"""Whether replicas and Redis agree on the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from app.doctor.finding import Check, Fault, Severity
from app.doctor.redis_nodes import facts_of, session_url
from app.doctor.replicas import ask_all
from app.doctor.subject import CannotLook, Subject

TOLERATED_S: Final = 1.0
"""Tokens are accepted with a leeway of a few seconds; this is seen well before that is used up."""

Reading = tuple[float, float]
"""How far ahead of ours a clock is, and how unsure that is; seconds."""


async def _look(subject: Subject) -> Sequence[Fault]:
    readings: dict[str, Reading] = {
        name: (told.ahead_s, told.unsure_s) for name, told in (await ask_all(subject)).items()
    }
    try:
        nodes = await facts_of(session_url(subject.one))
    except CannotLook:
        nodes = []
    return apart(readings | {f"Redis {node.address}": (node.ahead_s, node.unsure_s) for node in nodes})


def apart(readings: Mapping[str, Reading]) -> Sequence[Fault]:
    """One fault for the two clocks that are furthest apart, if that is beyond doubt and too much."""
    pairs = [
        (abs(one[0] - other[0]) - one[1] - other[1], name, another)
        for (name, one), (another, other) in combinations(readings.items(), 2)
    ]
    if not pairs or max(pairs)[0] <= TOLERATED_S:
        return []
    certain, name, another = max(pairs)
    return [
        Fault(
            severity=Severity.ERROR if certain > 5 * TOLERATED_S else Severity.WARNING,
            what=f"the clocks of {name} and {another} are at least {certain:.1f} s apart",
            mend="run a time daemon (chrony, systemd-timesyncd) on every machine",
        )
    ]


CLOCKS = Check(
    name="clocks",
    why="a session or token made by one replica is not yet, or no longer, valid on another, "
    "and shoppers are logged out by turns",
    look=_look,
)
