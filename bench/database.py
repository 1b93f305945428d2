"""A PostgreSQL of the benchmark's own, migrated and empty."""

from __future__ import annotations

import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.shop.errors import Unavailable
from app.stores.migrations import migrate

_PATIENCE_S = 60


@contextmanager
def own_database() -> Iterator[str]:
    """The URL of a fresh database, gone with the block."""
    with TemporaryDirectory() as folder, closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        server = PostgresServer(
            programs=Programs().find_postgres_bin(),
            data=Path(folder) / "data",
            port=port,
            password=secrets.token_hex(16),
        )
        server.initialise()
        with subprocess.Popen(server.argv(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 -- our own server
            try:
                _migrated(server.url())
                yield server.url()
            finally:
                # PostgreSQL's quick way out: it ends what its clients left open.
                process.send_signal(signal.SIGINT)


def _migrated(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            migrate(url)
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
