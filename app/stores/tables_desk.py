"""The tables of the owner's desk, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.stores.tables import metadata

audit: Final = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    # Who it was stays written also where the account is gone; so no foreign key, and the e-mail of that day.
    Column("account_id", Uuid(as_uuid=False), nullable=False),
    Column("email", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("before", JSONB, nullable=False, server_default=text("'{}'")),
    Column("after", JSONB, nullable=False, server_default=text("'{}'")),
    # The one form of one person, carried out once.
    Index("audit_account_id_nonce_key", "account_id", "nonce", unique=True),
    Index(None, "subject", "id"),
)

stock_movements: Final = Table(
    "stock_movements",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("sku", Text, nullable=False),  # also of a variant that is gone
    Column("quantity", Integer, nullable=False),
    Column("stock", Integer, nullable=False),  # what was there afterwards
    Column("reason", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("account_id", Uuid(as_uuid=False), nullable=False),
    Column("email", Text, nullable=False),
    CheckConstraint("quantity <> 0", name="quantity"),
    CheckConstraint("stock >= 0", name="stock"),
    Index(None, "sku", "id"),
)

pictures: Final = Table(
    "pictures",
    metadata,
    Column("digest", Text, primary_key=True),  # SHA-256 of the content, in hex
    Column("content", LargeBinary, nullable=False),  # WebP, made here
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

import_jobs: Final = Table(
    "import_jobs",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("account_id", Uuid(as_uuid=False), nullable=False),
    Column("email", Text, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("rate", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),  # empty once the job is over
    Column("status", Text, nullable=False, server_default=text("'queued'")),
    Column("progress", Float, nullable=False, server_default=text("0")),
    Column("token", Text),  # of the worker whose job it is
    Column("tries", Integer, nullable=False, server_default=text("0")),
    Column("lease_until", DateTime(timezone=True)),
    Column("finished_at", DateTime(timezone=True)),
    Column("summary", JSONB, nullable=False, server_default=text("'{}'")),
    Column("refusals", JSONB, nullable=False, server_default=text("'[]'")),
    CheckConstraint("status IN ('queued', 'running', 'done', 'refused', 'failed')", name="status"),
    Index("import_jobs_open_idx", "id", postgresql_where=text("status IN ('queued', 'running')")),
)
