"""The schema is made once, by whichever process comes first, and is what the code reads."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from app.services.payments.schema import migrate
from app.services.payments.tables import SCHEMA, metadata
from tests.integration.payments.conftest import ROOT

MIGRATE = "import sys; from app.services.payments.schema import migrate; print(flush=True); input(); migrate(sys.argv[1])"


def test_processes_that_start_at_once_make_the_schema_once(empty_database_url: str) -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", MIGRATE, empty_database_url],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for _ in range(6)
        ]
        for process in processes:
            assert process.stdout
            process.stdout.readline()  # everything is imported; what follows is the race
        for process in processes:
            assert process.stdin
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert [process.wait(timeout=120) for process in processes] == [0] * 6


def test_the_tables_are_what_the_migrations_make(empty_database_url: str) -> None:
    migrate(empty_database_url)
    migrate(empty_database_url)
    engine = create_engine(empty_database_url)
    with engine.connect() as connection:
        options = {
            "include_schemas": True,
            "version_table_schema": SCHEMA,
            "include_name": lambda name, kind, _: kind != "schema" or name == SCHEMA,
            "compare_server_default": True,
        }
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
    engine.dispose()
