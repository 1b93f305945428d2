"""Single sessions that ended, as rows (expand): a session store that lost it can be told again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ended_sessions",
        sa.Column("handle", sa.Text, primary_key=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Index(None, "ended_at"),
    )


def downgrade() -> None:
    op.drop_table("ended_sessions")
