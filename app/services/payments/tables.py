"""The acquirer's tables, in a schema of their own, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    func,
    text,
)

SCHEMA: Final = "payments"

metadata: Final = MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    },
)

payments: Final = Table(
    "payments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("merchant", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("captured", BigInteger, nullable=False),
    Column("refunded", BigInteger, nullable=False),
    Column("decline_reason", Text),
    Column("return_url", Text),
    Column("action_secret", Text, unique=True),
    Column("created_at", DateTime(timezone=True), nullable=False),
    CheckConstraint(
        "amount > 0 AND refunded >= 0 AND refunded <= captured AND captured <= amount", name="sums"
    ),
    Index("payments_reference_idx", "merchant", "reference", "created_at"),
    Index(
        "payments_live_key",
        "merchant",
        "reference",
        unique=True,
        postgresql_where=text("status IN ('requires_action', 'authorised', 'captured')"),
    ),
)

transfers: Final = Table(
    "transfers",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("payment_id", Text, ForeignKey("payments.payments.id"), nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("amount > 0 AND source <> target", name="amount"),
)

requests: Final = Table(
    "requests",
    metadata,
    Column("merchant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("reference", Text),  # of an authorisation, so that a query sees what is still in progress
    Column("claim", Text, nullable=False),
    Column("claimed_until", DateTime(timezone=True), nullable=False),
    Column("status", SmallInteger),
    Column("body", JSON),  # not JSONB: the same answer has the same order
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("requests_open_idx", "merchant", "reference", postgresql_where=text("status IS NULL")),
)

closed_references: Final = Table(
    "closed_references",
    metadata,
    Column("merchant", Text, primary_key=True),
    Column("reference", Text, primary_key=True),
    Column("closed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

events: Final = Table(
    "events",
    metadata,
    Column("id", Text, primary_key=True),
    Column("payment_id", Text, ForeignKey("payments.payments.id"), nullable=False, index=True),
    Column("body", Text, nullable=False),  # the very text that is signed
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

deliveries: Final = Table(
    "deliveries",
    metadata,
    Column("event_id", Text, ForeignKey("payments.events.id"), primary_key=True),
    Column("consumer", Text, primary_key=True),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("next_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("delivered_at", DateTime(timezone=True)),
    Column("last_error", Text),
    Index("deliveries_due_idx", "consumer", "next_at", postgresql_where=text("delivered_at IS NULL")),
)
