"""The acquirer's own schema, brought to its newest revision by whichever process starts first."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.services.payments.tables import SCHEMA
from app.shop.errors import Unavailable

FOLDER: Final = Path(__file__).parent / "migrations"

_LOCK: Final = 0x7061796D656E7473
"""The advisory lock of whoever migrates: "payments" in ASCII."""


def migrate(url: str) -> None:
    """Run every revision that is due, in one transaction, one process at a time. Raises `Unavailable`."""
    engine = create_engine(
        url, poolclass=NullPool, connect_args={"connect_timeout": 5}, use_native_hstore=False
    )
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except OperationalError as away:
        raise Unavailable("the database") from away
    finally:
        engine.dispose()
