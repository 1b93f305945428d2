"""Indexes of what products are called, for searches that find many (expand), made beside the changes that come in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.create_index(
            "products_head_words_idx",
            "products",
            ["head_words"],
            postgresql_using="gin",
            postgresql_concurrently=True,
            if_not_exists=True,
        )
        op.create_index(
            "products_beginning_idx",
            "products",
            [sa.text('left(search, 60) COLLATE "C"')],
            postgresql_concurrently=True,
            if_not_exists=True,
        )


def downgrade() -> None:
    op.drop_index("products_beginning_idx", "products")
    op.drop_index("products_head_words_idx", "products")
