"""A PostgreSQL primary and its standby, which can take over."""

from __future__ import annotations

import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from tests.conftest import free_port, running, wait_until


class OwnPostgres:
    """One server that may be killed, restarted and promoted."""

    def __init__(self, folder: Path, password: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.server = PostgresServer(
            programs=Programs().find_postgres_bin(), data=folder / "data", port=free_port(), password=password
        )
        self._log = folder / "log"
        self._stack = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Its part of a URL with several hosts."""
        return f"127.0.0.1:{self.server.port}"

    def start(self) -> None:
        """Up and answering."""
        argv = self.server.argv("-c", "fsync=off", "-c", "wal_level=replica", "-c", "hot_standby=on")
        self._process = self._stack.enter_context(running(argv, self._log))
        wait_until(self.answers, what="PostgreSQL", within_s=60)

    def kill(self) -> None:
        """Gone without a word, with all its children."""
        assert self._process is not None  # noqa: S101 -- it was started
        self._process.send_signal(signal.SIGQUIT)  # immediate shutdown: as after a crash
        self._process.wait()

    def stop(self) -> None:
        """Gone for good."""
        self._stack.close()

    def ask(self, statement: str) -> object:
        """The first value of what it answers."""
        url = make_url(self.server.url()).set(drivername="postgresql")
        with psycopg.connect(
            url.render_as_string(hide_password=False), connect_timeout=2, autocommit=True
        ) as connection:
            row = connection.execute(statement.encode()).fetchone()
            return row[0] if row else None

    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            return self.ask("SELECT 1") == 1
        except psycopg.OperationalError:
            return False


@contextmanager
def primary_and_standby(folder: Path) -> Iterator[tuple[OwnPostgres, OwnPostgres]]:
    """The standby streams from the primary and has all it had."""
    password = secrets.token_hex(16)
    primary, standby = OwnPostgres(folder / "primary", password), OwnPostgres(folder / "standby", password)
    primary.server.initialise()
    with (primary.server.data / "pg_hba.conf").open("a") as rules:
        rules.write("host replication chopho 127.0.0.1/32 scram-sha-256\n")
    try:
        primary.start()
        _copy(primary, standby)
        standby.start()
        wait_until(lambda: caught_up(primary, standby), what="the standby")
        yield primary, standby
    finally:
        standby.stop()
        primary.stop()


def _copy(primary: OwnPostgres, standby: OwnPostgres) -> None:
    url = f"postgresql://chopho:{primary.server.password}@{primary.address}/postgres"
    standby.server.make_data()
    words = ["-d", url, "-D", str(standby.server.data), "-R", "-c", "fast", "--no-sync"]
    argv = standby.server.as_server(["pg_basebackup", *words])
    subprocess.run(argv, check=True, capture_output=True)  # noqa: S603 -- our own words


def caught_up(primary: OwnPostgres, standby: OwnPostgres) -> bool:
    """Whether the standby has replayed all that the primary wrote."""
    behind = f"SELECT pg_last_wal_replay_lsn() >= '{primary.ask('SELECT pg_current_wal_lsn()')}'::pg_lsn"
    return standby.ask(behind) is True
