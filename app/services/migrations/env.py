"""Alembic's entry: runs a service's revisions on the connection that `app.services.schema.migrate` hands over."""

from __future__ import annotations

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=attributes["tables"],
    version_table_schema=attributes["tables"].schema,
    include_schemas=True,
)
with context.begin_transaction():
    context.run_migrations()
