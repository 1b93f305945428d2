"""The tables of the mail that waits to be sent."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, DateTime, Index, Integer, Table, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import JSONB

from app.stores.tables import metadata

outbox: Final = Table(
    "outbox",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),  # names the mail in its Message-ID, too
    Column("kind", Text, nullable=False),
    Column("recipient", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("fields", JSONB),  # NULL once nobody needs them any more
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("expires_at", DateTime(timezone=True)),
    Column("next_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("last_error", Text),
    Column("sent_at", DateTime(timezone=True)),
    Column("given_up_at", DateTime(timezone=True)),
    Index("outbox_due_idx", "next_at", postgresql_where=text("sent_at IS NULL AND given_up_at IS NULL")),
    Index("outbox_sent_idx", "sent_at", postgresql_where=text("sent_at IS NOT NULL")),
    Index("outbox_given_up_idx", "given_up_at", postgresql_where=text("given_up_at IS NOT NULL")),
)
