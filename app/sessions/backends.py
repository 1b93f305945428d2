"""Which store a URL names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from .config import SessionConfig
from .jwt_keys import Key, KeyRing
from .jwt_store import JwtStore
from .jwt_tokens import Tokens
from .memory import MemoryStore
from .ports import SessionStore
from .redis_acknowledged import Acknowledged
from .redis_cluster import Cluster
from .redis_sentinel import SentinelServer
from .redis_server import Options, Server, Wire
from .redis_store import RedisStore
from .redis_urls import ClusterUrl, SentinelUrl
from .tickets import SignedSeal

_JWT: Final = "jwt+"


def stores_of(urls: Sequence[str], config: SessionConfig, keys: Sequence[str]) -> list[SessionStore]:
    """The stores of one app. Each JWT backend verifies the tokens of all, so that its keys can be changed."""
    known = [key for url in urls if url.startswith(_JWT) for key in _ring_of(url, keys)[1]]
    return [store_of(url, config, keys, known=known) for url in urls]


def store_of(
    url: str, config: SessionConfig, keys: Sequence[str], *, known: Sequence[Key] = ()
) -> SessionStore:
    """The store, built without I/O; raises `ValueError` for a URL that names none.

    `redis rediss unix redis+sentinel redis+cluster memory`, and before each of Redis' own `jwt+`. A JWT
    backend signs with HS256 and `keys`, or with the PEM files of `?key_files=first,older`; it also verifies
    with the `known` ones.
    """
    if url.startswith(_JWT):
        url, own = _ring_of(url, keys)
        ring = KeyRing([*own, *known])
        return JwtStore(_wire_of(url, config), config, Tokens(ring, config), ending=_ending_of(url, config))
    if url.partition("://")[0] == "memory":
        return MemoryStore(config, SignedSeal(keys))
    return RedisStore(_wire_of(url, config), config, SignedSeal(keys), ending=_ending_of(url, config))


def _ending_of(url: str, config: SessionConfig) -> Wire | None:
    """The way of what ends sessions, where replicas must have it; the server holds up all that waits behind."""
    if not config.revoke_replicas:
        return None
    return Acknowledged(_wire_of(url, config), config)


def _wire_of(url: str, config: SessionConfig) -> Wire:
    timeout_s = config.timeout.total_seconds()
    match url.partition("://")[0]:
        case "redis" | "rediss" | "unix":
            return Server(Options(url), timeout_s)
        case "redis+sentinel":
            return SentinelServer(SentinelUrl(url), timeout_s)
        case "redis+cluster":
            return Cluster(ClusterUrl(url), timeout_s)
        case scheme:
            raise ValueError(f"no session backend is called {scheme}://")


def _ring_of(url: str, keys: Sequence[str]) -> tuple[str, KeyRing]:
    """Where a JWT backend keeps who was revoked, and its own keys."""
    url, files = _without_key_files(url.removeprefix(_JWT))
    return url, KeyRing.from_files(files) if files else KeyRing.from_secrets(keys)


def _without_key_files(url: str) -> tuple[str, Sequence[str]]:
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    files = [path for path in query.pop("key_files", "").split(",") if path]
    return urlunsplit(parts._replace(query=urlencode(query))), files
