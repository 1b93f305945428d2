"""Catalogue files as jobs (expand): sent from the browser, worked on by any replica."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "import_jobs",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("file_name", sa.Text, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("rate", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'queued'")),
        sa.Column("progress", sa.Float, nullable=False, server_default=sa.text("0")),
        sa.Column("token", sa.Text),
        sa.Column("tries", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("summary", JSONB, nullable=False, server_default=sa.text("'{}'")),
        sa.Column("refusals", JSONB, nullable=False, server_default=sa.text("'[]'")),
        sa.CheckConstraint("status IN ('queued', 'running', 'done', 'refused', 'failed')", name="status"),
        sa.Index("import_jobs_open_idx", "id", postgresql_where=sa.text("status IN ('queued', 'running')")),
    )


def downgrade() -> None:
    op.drop_table("import_jobs")
