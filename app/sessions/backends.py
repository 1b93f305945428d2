"""Which store a URL names."""

from __future__ import annotations

from .config import SessionConfig
from .memory import MemoryStore
from .ports import Seal, SessionStore
from .redis_cluster import Cluster
from .redis_sentinel import SentinelServer
from .redis_server import Options, Server
from .redis_store import RedisStore
from .redis_urls import ClusterUrl, SentinelUrl


def store_of(url: str, config: SessionConfig, seal: Seal) -> SessionStore:
    """The store, built without I/O; raises `ValueError` for a URL that names none."""
    scheme = url.partition("://")[0]
    timeout_s = config.timeout.total_seconds()
    if scheme == "memory":
        return MemoryStore(config, seal)
    if scheme in {"redis", "rediss", "unix"}:
        return RedisStore(Server(Options(url), timeout_s), config, seal)
    if scheme == "redis+sentinel":
        return RedisStore(SentinelServer(SentinelUrl(url), timeout_s), config, seal)
    if scheme == "redis+cluster":
        return RedisStore(Cluster(ClusterUrl(url), timeout_s), config, seal)
    raise ValueError(f"no session backend is called {scheme}://")
