"""The owner's desk (expand): who changed what, and how stock came and went."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("before", JSONB, nullable=False, server_default=sa.text("'{}'")),
        sa.Column("after", JSONB, nullable=False, server_default=sa.text("'{}'")),
        sa.Index("audit_account_id_nonce_key", "account_id", "nonce", unique=True),
        sa.Index(None, "subject", "id"),
    )
    op.create_table(
        "stock_movements",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.Column("stock", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.CheckConstraint("quantity <> 0", name="quantity"),
        sa.CheckConstraint("stock >= 0", name="stock"),
        sa.Index(None, "sku", "id"),
    )


def downgrade() -> None:
    op.drop_table("stock_movements")
    op.drop_table("audit")
