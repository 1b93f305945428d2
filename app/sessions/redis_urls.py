"""URLs that name several Redis servers: `redis+sentinel://h:p,h:p/master/db`, `redis+cluster://h:p,h:p`."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from .redis_server import Options


class SentinelUrl:
    """Whom to ask for which master, and how to log in to both; raises `ValueError`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        master, _, database = parts.path.strip("/").partition("/")
        if not master:
            raise ValueError(f"{parts.scheme}://h:p,h:p/master/db names no master")
        login, self.sentinels = _hosts(parts.netloc, 26379)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        words = {name: query.pop(f"sentinel_{name}", None) for name in ("username", "password")}
        self.sentinel_login = {name: word for name, word in words.items() if word}
        self.master = unquote(master)
        self.options = Options(f"{_scheme(query)}://{login}master/{database}?{urlencode(query)}")


class ClusterUrl:
    """Where to learn the cluster's shape, and how to log in to each node; raises `ValueError`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.path.strip("/0"):
            raise ValueError(f"{parts.scheme}://h:p,h:p has one database only")
        login, self.seeds = _hosts(parts.netloc, 6379)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.options = Options(f"{_scheme(query)}://{login}node?{urlencode(query)}")


def _scheme(query: dict[str, str]) -> str:
    return "rediss" if query.pop("tls", "no").lower() in {"1", "yes", "true"} else "redis"


def _hosts(netloc: str, port: int) -> tuple[str, Sequence[tuple[str, int]]]:
    login, at, hosts = netloc.rpartition("@")
    # Each host alone is read as urlsplit reads one, IPv6 brackets included.
    found = [urlsplit(f"//{host}") for host in hosts.split(",") if host]
    if not found or not all(one.hostname for one in found):
        raise ValueError(f"no host in {hosts!r}")
    return login + at, [(str(one.hostname), one.port or port) for one in found]
