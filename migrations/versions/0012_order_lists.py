"""Everybody's orders by status and by day (expand): indexes, made beside the orders that come in meanwhile."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.create_index(
            "orders_status_sequence_idx",
            "orders",
            ["status", "sequence"],
            postgresql_concurrently=True,
            if_not_exists=True,
        )
        op.create_index(
            "orders_placed_at_idx", "orders", ["placed_at"], postgresql_concurrently=True, if_not_exists=True
        )


def downgrade() -> None:
    op.drop_index("orders_placed_at_idx", "orders")
    op.drop_index("orders_status_sequence_idx", "orders")
