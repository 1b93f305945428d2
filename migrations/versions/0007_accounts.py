"""Phones, locks, addresses, and what is proved by a link in a mail (expand)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _account_id(**options: bool) -> sa.Column[object]:
    return sa.Column("account_id", sa.Uuid, sa.ForeignKey("accounts.id"), nullable=False, **options)  # type: ignore[arg-type]  # booleans of a column


def _moment(name: str, **options: object) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), **options)  # type: ignore[arg-type]  # options of a column


def upgrade() -> None:
    op.add_column("accounts", sa.Column("phone", sa.Text, nullable=False, server_default=sa.text("''")))
    op.add_column("accounts", _moment("locked_at"))
    op.add_column("accounts", _moment("erased_at"))
    op.create_table(
        "addresses",
        sa.Column("id", sa.Uuid, primary_key=True),
        _account_id(index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("phone", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("province", sa.Text, nullable=False, server_default=sa.text("''")),
        sa.Column("is_default", sa.Boolean, nullable=False),
        _moment("created_at", nullable=False, server_default=sa.func.now()),
        sa.Index("addresses_default_idx", "account_id", unique=True, postgresql_where=sa.text("is_default")),
    )
    op.create_table(
        "password_resets",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        _account_id(index=True),
        sa.Column("token_digest", sa.Text, nullable=False, unique=True),
        sa.Column("password_mark", sa.Text, nullable=False),
        _moment("expires_at", nullable=False, index=True),
    )
    op.create_table(
        "email_changes",
        _account_id(primary_key=True),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("email_key", sa.Text, nullable=False),
        sa.Column("token_digest", sa.Text, unique=True),
        _moment("expires_at", nullable=False),
    )


def downgrade() -> None:
    for table in ("email_changes", "password_resets", "addresses"):
        op.drop_table(table)
    for column in ("erased_at", "locked_at", "phone"):
        op.drop_column("accounts", column)
