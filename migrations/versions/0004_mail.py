"""Mail that waits to be sent, and the language people are written to in (expand)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("recipient", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("fields", JSONB),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("last_error", sa.Text),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.Column("given_up_at", sa.DateTime(timezone=True)),
        sa.Index(
            "outbox_due_idx",
            "next_at",
            postgresql_where=sa.text("sent_at IS NULL AND given_up_at IS NULL"),
        ),
        sa.Index("outbox_sent_idx", "sent_at", postgresql_where=sa.text("sent_at IS NOT NULL")),
        sa.Index("outbox_given_up_idx", "given_up_at", postgresql_where=sa.text("given_up_at IS NOT NULL")),
    )
    op.add_column("accounts", sa.Column("language", sa.Text, nullable=False, server_default=sa.text("'vi'")))


def downgrade() -> None:
    op.drop_column("accounts", "language")
    op.drop_table("outbox")
