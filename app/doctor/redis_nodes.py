"""The Redis servers behind a URL of the settings, each asked by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import Redis, Sentinel
from redis.exceptions import RedisError, ResponseError

from app.doctor.subject import CannotLook, Silent
from app.sessions.redis_urls import ClusterUrl, SentinelUrl
from app.settings import Settings

_TIMEOUT_S: Final = 2.0
_PATIENCE: Final[Mapping[str, Any]] = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One server: INFO's memory and persistence, and `save`, None where it may not be asked."""

    address: str
    info: Mapping[str, Any]
    save: str | None
    ahead_s: float
    unsure_s: float


def session_url(settings: Settings) -> str:
    """Where sessions, or what revokes them, are kept; raises `CannotLook` for those of one process."""
    if settings.session_url.startswith("memory://"):
        raise CannotLook("sessions are kept in the memory of one process, so there is no server to look at")
    return settings.session_url.removeprefix("jwt+")


async def facts_of(url: str) -> Sequence[NodeFacts]:
    """What every node says; raises `CannotLook`."""
    try:
        async with asyncio.timeout(2 * _TIMEOUT_S):
            return [await _facts(address, client) for address, client in await _nodes(url)]
    except (OSError, TimeoutError, RedisError, ValueError) as away:
        raise Silent(f"Redis does not answer: {type(away).__name__}") from away


async def _facts(address: str, client: Redis) -> NodeFacts:
    async with client:
        before = time.time()
        seconds, microseconds = await client.time()
        after = time.time()
        info = {**await client.info("memory"), **await client.info("persistence")}
        try:
            save = (await client.config_get("save")).get("save")
        except ResponseError:
            save = None
    ahead_s = seconds + microseconds / 1e6 - (before + after) / 2
    return NodeFacts(address=address, info=info, save=save, ahead_s=ahead_s, unsure_s=(after - before) / 2)


async def _nodes(url: str) -> Sequence[tuple[str, Redis]]:
    scheme = url.partition("://")[0]
    if scheme == "redis+sentinel":
        given = SentinelUrl(url)
        sentinel = Sentinel(  # type: ignore[no-untyped-call]  # the library left it untyped
            given.sentinels, sentinel_kwargs={**given.sentinel_login, **_PATIENCE}
        )
        try:
            host, port = await sentinel.discover_master(given.master)
        finally:
            await asyncio.gather(*(one.aclose() for one in sentinel.sentinels))
        database = urlsplit(url).path.strip("/").partition("/")[2]
        return [_node(_plain(url, f"{host}:{port}", database))]
    if scheme == "redis+cluster":
        return [_node(_plain(url, f"{host}:{port}", "")) for host, port in await _primaries(url)]
    return [_node(_plain(url, urlsplit(url).netloc.rpartition("@")[2], urlsplit(url).path.strip("/")))]


async def _primaries(url: str) -> Sequence[tuple[str, int]]:
    """Every master of the cluster, as the first seed that answers knows them."""
    seeds = [_node(_plain(url, f"{host}:{port}", ""))[1] for host, port in ClusterUrl(url).seeds]
    for last, seed in enumerate(seeds, 1 - len(seeds)):
        try:
            async with seed:
                slots = await seed.execute_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]  # the library left it untyped
        except (OSError, RedisError):
            if not last:
                raise
        else:
            # Each range: its first and last slot, then the master and its replicas, as [host, port, …].
            return sorted({(master[0].decode(), master[1]) for _, _, master, *_ in slots})
    return []


def _plain(url: str, address: str, database: str) -> str:
    """The URL of one server; of the query only TLS is kept."""
    parts = urlsplit(url)
    login, at, _ = parts.netloc.rpartition("@")
    tls = parts.scheme == "rediss" or parse_qs(parts.query).get("tls", ["no"])[0] in {"1", "yes", "true"}
    return f"{'rediss' if tls else 'redis'}://{login}{at}{address}/{database}"


def _node(url: str) -> tuple[str, Redis]:
    client: Redis = Redis.from_url(url, **_PATIENCE)
    return urlsplit(url).netloc.rpartition("@")[2], client
