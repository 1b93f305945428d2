"""A Redis server of our own: sessions survive its restart, and it never evicts one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisServer:
    """How to run it: loopback only, append-only file in `data`, `noeviction`."""

    program: Path
    data: Path
    port: int

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def argv(self, *more: str) -> Sequence[str]:
        """The command; `more` are further options, as ``--maxmemory``, ``1mb``."""
        self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.data),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return [str(self.program), *options, *more]
