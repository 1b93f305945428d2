"""One Redis that every peer of a run shares."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from socket import create_connection, socket

from app.fleet.programs import Programs
from app.fleet.redis import RedisServer


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def redis_running() -> Iterator[RedisServer]:
    """A Redis as the fleet runs it, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(program=Programs().find_redis_server(), data=Path(folder), port=free_port())
        with subprocess.Popen(server.argv(), stdout=subprocess.DEVNULL) as process:  # noqa: S603 -- our own words
            try:
                _await(server.port)
                yield server
            finally:
                process.terminate()


def _await(port: int) -> None:
    for _ in range(200):
        try:
            create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("Redis did not start")
