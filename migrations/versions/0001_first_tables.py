"""The first tables: accounts, catalogue, orders."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _accounts()
    _catalogue()
    _orders()


def downgrade() -> None:
    for table in ("order_keys", "order_lines", "orders", "variants", "products", "categories", "accounts"):
        op.drop_table(table)


def _accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("email_key", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        _moment("created_at"),
        sa.CheckConstraint("role IN ('customer', 'owner', 'operator')", name="role"),
    )


def _catalogue() -> None:
    op.create_table(
        "categories",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("slug", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
    )
    op.create_table(
        "products",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("slug", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("category_id", sa.BigInteger, sa.ForeignKey("categories.id"), nullable=False, index=True),
        sa.Column("visible", sa.Boolean, nullable=False, server_default=sa.text("true")),
        sa.Column("search", sa.Text, nullable=False),
        _moment("created_at"),
    )
    op.create_table(
        "variants",
        sa.Column("sku", sa.Text, primary_key=True),
        sa.Column("product_id", sa.BigInteger, sa.ForeignKey("products.id"), nullable=False, index=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("price", sa.BigInteger, nullable=False),
        sa.Column("stock", sa.Integer, nullable=False),
        sa.Column("options", JSONB, nullable=False, server_default=sa.text("'{}'")),
        sa.CheckConstraint("octet_length(sku) BETWEEN 1 AND 64", name="sku"),
        sa.CheckConstraint("price BETWEEN 0 AND 1000000000000", name="price"),
        sa.CheckConstraint("stock >= 0", name="stock"),
    )


def _orders() -> None:
    op.create_table(
        "orders",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("sequence", sa.BigInteger, sa.Identity(), nullable=False, unique=True),
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("cart_id", sa.Text, nullable=False, unique=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("payment", sa.Text, nullable=False),
        sa.Column("shipping", JSONB, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Index(None, "account_id", "sequence"),
    )
    op.create_table(
        "order_lines",
        sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id"), primary_key=True),
        sa.Column("position", sa.SmallInteger, primary_key=True),
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.Column("unit_price", sa.BigInteger, nullable=False),
        sa.CheckConstraint("quantity > 0", name="quantity"),
    )
    op.create_table(
        "order_keys",
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id"), nullable=False),
        _moment("created_at"),
    )


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now())
