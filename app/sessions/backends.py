"""Which store a URL names."""

from __future__ import annotations

from .config import SessionConfig
from .memory import MemoryStore
from .ports import Seal, SessionStore
from .redis_server import Options, Server
from .redis_store import RedisStore


def store_of(url: str, config: SessionConfig, seal: Seal) -> SessionStore:
    """The store, built without I/O; raises `ValueError` for a URL that names none."""
    scheme = url.partition("://")[0]
    if scheme == "memory":
        return MemoryStore(config, seal)
    if scheme in {"redis", "rediss", "unix"}:
        return RedisStore(Server(Options(url), config.timeout.total_seconds()), config, seal)
    raise ValueError(f"no session backend is called {scheme}://")
