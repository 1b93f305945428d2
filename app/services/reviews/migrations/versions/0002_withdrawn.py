"""When its author took back a review that the owner had judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "reviews"


def upgrade() -> None:
    op.add_column("reviews", sa.Column("withdrawn_at", sa.DateTime(timezone=True)), schema=SCHEMA)


def downgrade() -> None:
    op.drop_column("reviews", "withdrawn_at", schema=SCHEMA)
