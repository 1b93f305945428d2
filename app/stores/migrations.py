"""Bring the database to the newest revision, also when several replicas start at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.shop.errors import Unavailable

FOLDER: Final = Path(__file__).parents[2] / "migrations"

_LOCK: Final = 0x63686F70686F
"""The advisory lock of whoever migrates: "chopho" in ASCII."""

_TURN_S: Final = 0.1
_PATIENCE_S: Final = 600.0
"""How long to wait for another one's migration; a backfill may take minutes."""

_CONNECT: Final = {
    "connect_timeout": 5,
    "application_name": "chopho migrate",
    "options": "-c lock_timeout=5000 -c statement_timeout=0 -c timezone=UTC",
}


def migrate(url: str) -> None:
    """Run every revision that is due. Raises `Unavailable` when the database is away or locked too long."""
    with _connected(url) as connection:
        _wait_for_turn(connection)
        command.upgrade(_config(connection), "head")


def head() -> str | None:
    """The newest revision that this release knows."""
    return ScriptDirectory(str(FOLDER)).get_current_head()


def knows(revision: str) -> bool:
    """Whether this release brings that revision; not so for those of a newer one."""
    return any(script.revision == revision for script in ScriptDirectory(str(FOLDER)).walk_revisions())


def current(url: str) -> str | None:
    """The revision of the database; None for an empty one. Raises `Unavailable`."""
    with _connected(url) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return config


def _wait_for_turn(connection: Connection) -> None:
    """Take the lock, which ends with the connection.

    Asked for again and again rather than waited for: one who waits inside a statement holds a snapshot,
    and `CREATE INDEX CONCURRENTLY` waits for all snapshots.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while not connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
        connection.rollback()
        if time.monotonic() > deadline:
            raise Unavailable("the database, which somebody else has been migrating for long,")
        time.sleep(_TURN_S)
    connection.commit()


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine: Engine = create_engine(url, poolclass=NullPool, connect_args=_CONNECT, use_native_hstore=False)
    try:
        with engine.connect() as connection:
            yield connection
    except OperationalError as away:
        raise Unavailable("the database") from away
    finally:
        engine.dispose()
