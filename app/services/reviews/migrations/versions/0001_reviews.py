"""The first table: reviews."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "reviews"


def upgrade() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("product", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("author_name", sa.Text, nullable=False),
        sa.Column("rating", sa.SmallInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("edited_at", sa.DateTime(timezone=True)),
        sa.Column("judged_by", sa.Text),
        sa.Column("judged_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("product", "author", name="reviews_product_author_key"),
        sa.CheckConstraint("rating BETWEEN 1 AND 5", name="reviews_rating_check"),
        sa.CheckConstraint("status IN ('pending', 'shown', 'hidden')", name="reviews_status_check"),
        schema=SCHEMA,
    )
    op.create_index(
        "reviews_shown_idx",
        "reviews",
        ["product", sa.text("written_at DESC"), "id"],
        schema=SCHEMA,
        postgresql_include=["rating"],
        postgresql_where=sa.text("status = 'shown'"),
    )
    op.create_index("reviews_status_idx", "reviews", ["status", "written_at", "id"], schema=SCHEMA)


def downgrade() -> None:
    op.drop_table("reviews", schema=SCHEMA)
