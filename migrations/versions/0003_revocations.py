"""Ends of sessions as rows (expand): what a session store loses can be given to it again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "revocations",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("epoch", sa.BigInteger),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Index(None, "asked_at"),
        sa.Index("revocations_unsettled_idx", "asked_at", postgresql_where=sa.text("epoch IS NULL")),
    )


def downgrade() -> None:
    op.drop_table("revocations")
