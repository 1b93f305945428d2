"""A service's own schema, brought to its newest revision by whichever process starts first."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, MetaData, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.shop.errors import Unavailable
from app.stores.poolers import driver_url

FOLDER: Final = Path(__file__).parent
"""Each service has its revisions in `migrations/versions`; how they are run is the same for all."""


def lock_of(schema: str) -> int:
    """The advisory lock of whoever works on the whole schema: its first eight letters as a number."""
    return int.from_bytes(schema.encode()[:8], "big")


def migrate(url: str, tables: MetaData) -> None:
    """Run every revision that is due, in one transaction, one process at a time. Raises `Unavailable`.

    `tables` are those of a service, in the schema that is called as the service is.
    """
    schema = str(tables.schema)
    engine = create_engine(
        driver_url(url),
        poolclass=NullPool,
        connect_args={"connect_timeout": 5, "prepare_threshold": None},  # nothing is left with a pooler
        use_native_hstore=False,
    )
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock_of(schema)})
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {schema}"))
            command.upgrade(_config(schema, connection, tables), "head")
    except OperationalError as away:
        raise Unavailable("the database") from away
    finally:
        engine.dispose()


def _config(schema: str, connection: Connection, tables: MetaData) -> Config:
    config = Config(attributes={"connection": connection, "tables": tables})
    for name, folder in (
        ("script_location", FOLDER / "migrations"),
        ("version_locations", FOLDER / schema / "migrations" / "versions"),
    ):
        config.set_main_option(name, str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    return config
