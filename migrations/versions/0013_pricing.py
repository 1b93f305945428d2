"""Weights and vouchers (expand): what an order costs besides its goods, and what is taken off."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("variants", sa.Column("grams", sa.Integer, nullable=False, server_default=sa.text("500")))
    op.create_check_constraint("grams", "variants", "grams BETWEEN 0 AND 1000000")
    op.create_table(
        "vouchers",
        sa.Column("code", sa.Text, primary_key=True),
        sa.Column("amount", sa.BigInteger),
        sa.Column("percent", sa.SmallInteger),
        sa.Column("at_most", sa.BigInteger),
        sa.Column("minimum", sa.BigInteger, nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True)),
        sa.Column("use_limit", sa.Integer),
        sa.Column("use_limit_each", sa.Integer),
        sa.Column("used", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.CheckConstraint("num_nonnulls(amount, percent) = 1", name="kind"),
        sa.CheckConstraint("used >= 0 AND (use_limit IS NULL OR used <= use_limit)", name="used"),
    )
    op.create_table(
        "voucher_uses",
        sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id"), primary_key=True),
        sa.Column("code", sa.Text, sa.ForeignKey("vouchers.code"), nullable=False),
        sa.Column("customer", sa.Text, nullable=False),
        sa.Column("discount", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Index(None, "code", "customer"),
    )


def downgrade() -> None:
    op.drop_table("voucher_uses")
    op.drop_table("vouchers")
    op.drop_constraint("grams", "variants")
    op.drop_column("variants", "grams")
