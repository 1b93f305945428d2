"""Alembic's entry: runs the revisions on the connection that `schema.migrate` hands over."""

from __future__ import annotations

from alembic import context

from app.services.payments.tables import SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=SCHEMA,
    include_schemas=True,
)
with context.begin_transaction():
    context.run_migrations()
