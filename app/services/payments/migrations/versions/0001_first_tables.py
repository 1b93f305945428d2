"""The first tables: payments, their ledger, keys, events and deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "payments"


def upgrade() -> None:
    _payments()
    _transfers()
    _requests()
    _webhooks()


def downgrade() -> None:
    for table in ("deliveries", "events", "closed_references", "requests", "transfers", "payments"):
        op.drop_table(table, schema=SCHEMA)


def _payments() -> None:
    op.create_table(
        "payments",
        sa.Column("id", sa.Text, primary_key=True),
        *_texts("merchant", "reference", "status"),
        sa.Column("amount", sa.BigInteger, nullable=False),
        *_texts("currency"),
        sa.Column("captured", sa.BigInteger, nullable=False),
        sa.Column("refunded", sa.BigInteger, nullable=False),
        sa.Column("decline_reason", sa.Text),
        sa.Column("return_url", sa.Text),
        sa.Column("action_secret", sa.Text, unique=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "amount > 0 AND refunded >= 0 AND refunded <= captured AND captured <= amount",
            name="payments_sums_check",
        ),
        schema=SCHEMA,
    )
    op.create_index(
        "payments_reference_idx", "payments", ["merchant", "reference", "created_at"], schema=SCHEMA
    )
    op.create_index(
        "payments_live_key",
        "payments",
        ["merchant", "reference"],
        unique=True,
        postgresql_where=sa.text("status IN ('requires_action', 'authorised', 'captured')"),
        schema=SCHEMA,
    )


def _transfers() -> None:
    op.create_table(
        "transfers",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        _payment_id(),
        *_texts("source", "target"),
        sa.Column("amount", sa.BigInteger, nullable=False),
        _moment("at"),
        sa.CheckConstraint("amount > 0 AND source <> target", name="transfers_amount_check"),
        schema=SCHEMA,
    )


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("merchant", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        *_texts("fingerprint"),
        sa.Column("reference", sa.Text),
        *_texts("claim"),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.SmallInteger),
        sa.Column("body", sa.JSON),
        _moment("created_at"),
        schema=SCHEMA,
    )
    op.create_index(
        "requests_open_idx",
        "requests",
        ["merchant", "reference"],
        postgresql_where=sa.text("status IS NULL"),
        schema=SCHEMA,
    )
    op.create_table(
        "closed_references",
        sa.Column("merchant", sa.Text, primary_key=True),
        sa.Column("reference", sa.Text, primary_key=True),
        _moment("closed_at"),
        schema=SCHEMA,
    )


def _webhooks() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.Text, primary_key=True),
        _payment_id(),
        *_texts("body"),
        _moment("created_at"),
        schema=SCHEMA,
    )
    op.create_table(
        "deliveries",
        sa.Column("event_id", sa.Text, sa.ForeignKey("payments.events.id"), primary_key=True),
        sa.Column("consumer", sa.Text, primary_key=True),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        _moment("next_at"),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.Column("last_error", sa.Text),
        schema=SCHEMA,
    )
    op.create_index(
        "deliveries_due_idx",
        "deliveries",
        ["consumer", "next_at"],
        postgresql_where=sa.text("delivered_at IS NULL"),
        schema=SCHEMA,
    )


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _payment_id() -> sa.Column[str]:
    return sa.Column("payment_id", sa.Text, sa.ForeignKey("payments.payments.id"), nullable=False, index=True)


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now())
