"""Real servers for the tests, started by the tests: one Redis and one PostgreSQL for a run."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePath
from socket import create_connection, socket
from typing import Any, Final

import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url
from xdist.scheduler import LoadScopeScheduling

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.fleet.redis import RedisServer

TOGETHER: Final = ("checkout", "payments", "services")
"""Folders of tests whose processes serve all of their files."""


class BySharedServers(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """One worker takes a file, or a whole folder whose files share their servers."""

    def _split_scope(self, nodeid: str) -> str:
        file = PurePath(nodeid.partition("::")[0])
        return str(file.parent if file.parent.name in TOGETHER else file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> BySharedServers:
    return BySharedServers(config, log)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Everything here runs on asyncio."""
    return "asyncio"


def free_port() -> int:
    """A port that nobody listens on; a node of a Redis cluster finds room for its bus 10,000 above."""
    while True:
        with closing(socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port < 65_536 - 10_000:
            return port


def wait_until(ready: Callable[[], bool], *, within_s: float = 20, what: str = "the server") -> None:
    """Return once `ready()` holds; fails the test when it never does."""
    deadline = time.monotonic() + within_s
    while not ready():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not get ready within {within_s} s")
        time.sleep(0.02)


def listening(port: int) -> bool:
    """Whether somebody accepts connections on that port."""
    try:
        create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def running(
    argv: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The process, its words in `log`; ended with the block. `environment` is added to ours."""
    whole = None if environment is None else {**os.environ, **environment}
    with log.open("ab") as out, subprocess.Popen(argv, stdout=out, stderr=out, env=whole) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    server = RedisServer(program=Programs().find_redis_server(), data=folder / "data", port=free_port())
    with running(server.argv(), folder / "log"):
        wait_until(lambda: listening(server.port), what="Redis")
        yield server.url


@pytest.fixture(scope="session")
def lasting_redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that nobody empties, for replicas that outlive a test."""
    with _redis(tmp_path_factory.mktemp("lasting-redis")) as url:
        yield url


@pytest.fixture(scope="session")
def _emptied_redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with _redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def redis_url(_emptied_redis_url: str) -> str:
    """An empty Redis of this test alone; a test that breaks its server starts one of its own."""
    with redis.Redis.from_url(_emptied_redis_url) as client:
        client.flushall()
    return _emptied_redis_url


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """One PostgreSQL for the run."""
    folder = tmp_path_factory.mktemp("postgres")
    server = PostgresServer(
        programs=Programs().find_postgres_bin(),
        data=folder / "data",
        port=free_port(),
        password=secrets.token_hex(16),
    )
    server.initialise()
    with running(server.argv("-c", "fsync=off"), folder / "log"):
        wait_until(lambda: _answers(server), what="PostgreSQL")
        yield server


def _answers(server: PostgresServer) -> bool:
    try:
        psycopg.connect(_plain(server.url()), connect_timeout=1).close()
    except psycopg.OperationalError:
        return False
    return True


def _plain(url: str) -> str:
    """The URL as psycopg itself reads it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


@pytest.fixture
def empty_database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database of this test alone, without tables."""
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(_plain(postgres_server.url()), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.url(name)
    with psycopg.connect(_plain(postgres_server.url()), autocommit=True) as admin:
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
