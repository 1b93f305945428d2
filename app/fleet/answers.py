"""Whether a process of the fleet does its work yet."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Container, Sequence
from typing import Final

from app.fleet.errors import BalancerSilent, CannotStart
from app.fleet.postgres import PostgresServer
from app.fleet.runtime import RuntimeApi

_TIMEOUT_S: Final = 2.0


async def redis_answers(port: int) -> bool:
    """It takes commands; while it loads its data it does not."""
    try:
        return (await _say(port, b"PING\r\nQUIT\r\n")).startswith(b"+PONG")
    except OSError:
        return False


async def postgres_answers(server: PostgresServer) -> bool:
    """It takes connections; raises `CannotStart` where it knows another password than we do."""
    trouble = await _asked(server, "SELECT 1")
    if "password authentication failed" in trouble:
        raise CannotStart(
            "postgres does not take the password in secrets.json; its data belongs to other secrets"
        )
    return not trouble


async def make_database(server: PostgresServer, name: str) -> None:
    """Make the database where it is not there yet; raises `CannotStart`."""
    missing = f"WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{name}')"
    trouble = await _asked(server, f"SELECT 'CREATE DATABASE {name}' {missing} \\gexec\n")
    if trouble:
        raise CannotStart(f"postgres does not make the database {name}: {trouble}")


async def _asked(server: PostgresServer, statement: str) -> str:
    """What went wrong with it; nothing: it was carried out."""
    psql = await asyncio.create_subprocess_exec(
        *server.client(),
        env={**os.environ, **server.client_environment()},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await psql.communicate(statement.encode())
    finally:
        if psql.returncode is None:
            psql.kill()
    return (
        said.decode(errors="replace").strip() or f"psql exited with code {psql.returncode}"
        if psql.returncode
        else ""
    )


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
    question = f"GET {path} HTTP/1.1\r\nHost: probe.invalid\r\nConnection: close\r\n\r\n"
    return await _say(port, question.encode())


async def _say(port: int, words: bytes) -> bytes:
    """What it answers before it closes; raises `OSError`."""
    async with asyncio.timeout(_TIMEOUT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(words)
            return await reader.read()
        finally:
            writer.close()
