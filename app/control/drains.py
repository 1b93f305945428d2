"""A wish for a replica: held out of rotation, or back in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

DRAINED: Final = "DRAINED"
SERVING: Final = "SERVING"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainWish:
    """Where an operator wants a replica; the time in milliseconds by the clock of the Redis server."""

    replica: str
    state: str
    since_ms: int
    by: str
    reason: str


def read_drain(replica: str, stored: str) -> DrainWish | None:
    """The wish as it is stored, or None for what nobody of ours wrote."""
    try:
        found = json.loads(stored)
        wish = DrainWish(
            replica=replica,
            state=str(found["state"]),
            since_ms=int(found["since_ms"]),
            by=str(found["by"]),
            reason=str(found["reason"]),
        )
    except (ValueError, TypeError, KeyError):
        return None
    return wish if wish.state in (DRAINED, SERVING) else None
