"""The first tables: pairs, bestsellers, shelves, and when they were computed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "recommendations"


def upgrade() -> None:
    op.create_table(
        "pairs",
        sa.Column("product", sa.Text, primary_key=True),
        sa.Column("place", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("other", sa.Text, nullable=False),
        sa.Column("customers", sa.Integer, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "bestsellers",
        sa.Column("category", sa.Text, primary_key=True),
        sa.Column("place", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("product", sa.Text, nullable=False),
        sa.Column("sold", sa.BigInteger, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "shelves",
        sa.Column("product", sa.Text, primary_key=True),
        sa.Column("category", sa.Text, nullable=False),
        schema=SCHEMA,
    )
    op.create_table("refreshes", sa.Column("at", sa.DateTime(timezone=True), primary_key=True), schema=SCHEMA)


def downgrade() -> None:
    for table in ("refreshes", "shelves", "bestsellers", "pairs"):
        op.drop_table(table, schema=SCHEMA)
