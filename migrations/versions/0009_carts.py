"""Carts of accounts (expand): what a shopper gathered outlives their session."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "carts",
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("cart_id", sa.Text, nullable=False),
        sa.Column("settled_id", sa.Text),
        sa.Column("version", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "cart_lines",
        _of_a_cart(primary_key=True),
        sa.Column("sku", sa.Text, primary_key=True),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.CheckConstraint("quantity > 0", name="quantity"),
    )
    op.create_table(
        "cart_adds",
        _of_a_cart(primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Index(None, "account_id", "added_at"),
    )
    op.create_table(
        "cart_merges",
        sa.Column("cart_id", sa.Text, primary_key=True),
        _of_a_cart(primary_key=False),
        sa.Column("left_out", JSONB, nullable=False),
        sa.Column("merged_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Index(None, "account_id", "merged_at"),
    )


def _of_a_cart(*, primary_key: bool) -> sa.Column[object]:
    cart = sa.ForeignKey("carts.account_id", ondelete="CASCADE")
    return sa.Column("account_id", sa.Uuid, cart, primary_key=primary_key, nullable=False)


def downgrade() -> None:
    for table in ("cart_merges", "cart_adds", "cart_lines", "carts"):
        op.drop_table(table)
