"""The scripts of the Redis store, each touching the one key it is given."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .changes import Changes
from .config import LEASE_MS, SessionConfig
from .redis_link import Reply, ReplyError
from .redis_server import Wire, pack


class Script:
    """One script, sent whole only to a server that does not know it yet."""

    def __init__(self, name: str) -> None:
        self._text = (Path(__file__).parent / "lua" / f"{name}.lua").read_bytes()
        self.sha = hashlib.sha1(self._text, usedforsecurity=False).hexdigest()

    async def run(
        self, wire: Wire, key: bytes, *words: str | bytes, also: tuple[tuple[bytes, bytes], ...] = ()
    ) -> list[Reply]:
        """The script's reply, then those of the commands `also` sent with it, which must be idempotent."""
        replies = await wire.call((key, pack("EVALSHA", self.sha, 1, key, *words)), *also)
        if isinstance(replies[0], ReplyError) and replies[0].code == "NOSCRIPT":
            # The script did not run, so this is no second time.
            replies = await wire.call((key, pack("EVAL", self._text, 1, key, *words)), *also)
        return replies


BLOCK = Script("block")
CLAIM = Script("claim")
COMMIT = Script("commit")
CREATE = Script("create")
END_ONE = Script("end_one")
EPOCH = Script("epoch")
REVOKE = Script("revoke")
SETTLE = Script("settle")
SWAP = Script("swap")


def limits_of(config: SessionConfig) -> tuple[str, ...]:
    """The limits as commit.lua takes them, after the time."""
    limits = (config.idle_ms, config.absolute_ms, LEASE_MS, config.max_fields, config.max_bytes)
    return tuple(str(limit) for limit in limits)


def words_of(changes: Changes) -> list[str | bytes]:
    """The changes as commit.lua takes them: five counts, then the items."""
    words: list[str | bytes] = [
        str(len(part)) for part in (changes.expect, changes.default, changes.put, changes.drop, changes.add)
    ]
    for name, wanted in changes.expect.items():
        words += (name, "0", b"") if wanted is None else (name, "1", wanted)
    for fields in (changes.default, changes.put):
        for name, value in fields.items():
            words += (name, value)
    words += changes.drop
    for name, step in changes.add.items():
        bounds = ["" if bound is None else str(bound) for bound in (step.low, step.high)]
        words += (name, str(step.by), *bounds, "01"[step.clamp], "01"[step.drop_zero])
    return words
