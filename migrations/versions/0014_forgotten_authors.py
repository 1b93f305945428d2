"""Whose reviews have lost their name after the account was erased (expand)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("author_forgotten_at", sa.DateTime(timezone=True)))
    op.create_index(
        "accounts_authors_idx",
        "accounts",
        ["erased_at"],
        postgresql_where=sa.text("erased_at IS NOT NULL AND author_forgotten_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index("accounts_authors_idx", "accounts")
    op.drop_column("accounts", "author_forgotten_at")
