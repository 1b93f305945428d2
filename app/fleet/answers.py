"""Whether a process of the fleet does its work yet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Sequence
from typing import Final

import psycopg
import redis.asyncio
from psycopg import sql
from redis.exceptions import RedisError

from app.fleet.errors import BalancerSilent, CannotStart
from app.fleet.runtime import RuntimeApi
from app.stores.poolers import driver_url

_TIMEOUT_S: Final = 2.0


async def redis_answers(url: str) -> bool:
    """It takes commands; while it loads its data it does not."""
    try:
        async with redis.asyncio.Redis.from_url(url, socket_timeout=_TIMEOUT_S, retry=None) as client:
            await client.ping()
    except (RedisError, OSError):
        return False
    return True


async def postgres_answers(url: str) -> bool:
    """It takes connections; raises `CannotStart` where it knows another password than we do."""
    try:
        async with await psycopg.AsyncConnection.connect(_plain(url), connect_timeout=2):
            return True
    except psycopg.OperationalError as error:
        if "password authentication failed" in str(error):
            raise CannotStart(
                "postgres does not take the password in secrets.json; its data belongs to other secrets"
            ) from error
        return False


async def make_database(url: str, name: str) -> None:
    """Make the database where it is not there yet."""
    async with await psycopg.AsyncConnection.connect(_plain(url), autocommit=True) as connection:
        found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if await found.fetchone() is None:
            await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


async def haproxy_answers(runtime: RuntimeApi) -> bool:
    """It listens to its owner."""
    try:
        await runtime.ask("show info")
    except BalancerSilent:
        return False
    return True


async def is_ready(port: int) -> bool:
    """Its readiness says 200."""
    return await _says_200(port, "/health/readiness")


async def is_alive(port: int) -> bool:
    """Its liveness says 200; a replica listens only once it is ready, and also while it is held out."""
    return await _says_200(port, "/health/liveness")


async def missing(port: int, *, besides: Container[str] = ()) -> Sequence[str]:
    """What a replica cannot do without and does not reach, with the reason; none where it does not say.

    `besides` are those that came up after it last looked.
    """
    try:
        head, _, body = (await _ask(port, "/health")).partition(b"\r\n\r\n")
        components = json.loads(body)["components"] if b" 200 " in head.split(b"\r\n")[0] else {}
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [
        f"{name}: {seen['why']}"
        for name, seen in components.items()
        if seen["essential"] and seen["state"] == "down" and name not in besides
    ]


async def hangs(port: int) -> bool:
    """It takes the connection and says nothing: a closed door is no hang, nor is a "no"."""
    try:
        await _ask(port, "/health/liveness")
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


async def _says_200(port: int, path: str) -> bool:
    try:
        answer = await _ask(port, path)
    except OSError:
        return False
    return answer.startswith(b"HTTP/1.1 200 ")


async def _ask(port: int, path: str) -> bytes:
    """The whole answer; raises `OSError`, of which `TimeoutError` is one."""
    async with asyncio.timeout(_TIMEOUT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            question = f"GET {path} HTTP/1.1\r\nHost: probe.invalid\r\nConnection: close\r\n\r\n"
            writer.write(question.encode())
            return await reader.read()
        finally:
            writer.close()


def _plain(url: str) -> str:
    """The URL as psycopg itself reads it."""
    return driver_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
