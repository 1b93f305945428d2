"""A look at the server's memory policy: one that may evict sessions logs shoppers out."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from .errors import StoreUnavailable
from .redis_server import Wire, pack

_log = logging.getLogger(__name__)

_AGAIN_S: Final = 5
"""Between two tries to reach a server that is away when the app starts."""


async def warn_of_eviction(wire: Wire) -> None:
    """One warning when the server may evict sessions or what revokes them; asks until it is answered."""
    facts = await _memory_facts(wire)
    policy = facts.get("maxmemory_policy", "noeviction")
    if facts.get("maxmemory", "0") != "0" and policy != "noeviction":
        _log.warning(
            "the session store's maxmemory-policy is %s: when full, it logs shoppers out and forgets "
            "revocations; use noeviction, and another server for caches",
            policy,
        )


async def _memory_facts(wire: Wire) -> dict[str, str]:
    while True:
        try:
            (said,) = await wire.call((b"", pack("INFO", "memory")))
        except StoreUnavailable:
            await asyncio.sleep(_AGAIN_S)
        else:
            return dict(line.split(":", 1) for line in _lines(said) if ":" in line)


def _lines(said: object) -> list[str]:
    # A user who may not ask gets an error, which has no lines.
    return said.decode(errors="replace").splitlines() if isinstance(said, bytes) else []
