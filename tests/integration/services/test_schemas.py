"""Each service's tables are what its migrations make, in a schema of its own."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, create_engine

from app.services.payments import tables as payments
from app.services.recommendations import tables as recommendations
from app.services.reviews import tables as reviews
from app.services.schema import lock_of, migrate

ALL = [payments.metadata, recommendations.metadata, reviews.metadata]


@pytest.mark.parametrize("tables", ALL, ids=lambda tables: str(tables.schema))
def test_the_tables_are_what_the_migrations_make(empty_database_url: str, tables: MetaData) -> None:
    for _ in range(2):
        migrate(empty_database_url, tables)
    engine = create_engine(empty_database_url)
    with engine.connect() as connection:
        options = {
            "include_schemas": True,
            "version_table_schema": tables.schema,
            "include_name": lambda name, kind, _: kind != "schema" or name == tables.schema,
            "compare_server_default": True,
        }
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables) == []
    engine.dispose()


def test_no_two_schemas_wait_for_each_other() -> None:
    assert len({lock_of(str(tables.schema)) for tables in ALL}) == len(ALL)
