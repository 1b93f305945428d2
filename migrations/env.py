"""Alembic's entry: runs the revisions on the connection that `app.stores.migrations` hands over."""

from __future__ import annotations

from alembic import context

from app.stores.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
