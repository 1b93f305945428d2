"""The tables of vouchers, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
    text,
)

from app.stores.tables import metadata

vouchers: Final = Table(
    "vouchers",
    metadata,
    Column("code", Text, primary_key=True),
    Column("amount", BigInteger),
    Column("percent", SmallInteger),
    Column("at_most", BigInteger),
    Column("minimum", BigInteger, nullable=False),
    Column("starts_at", DateTime(timezone=True), nullable=False),
    Column("ends_at", DateTime(timezone=True)),
    Column("use_limit", Integer),
    Column("use_limit_each", Integer),
    Column(
        "used", Integer, nullable=False, server_default=text("0")
    ),  # as many as it has rows in voucher_uses
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("num_nonnulls(amount, percent) = 1", name="kind"),
    CheckConstraint("used >= 0 AND (use_limit IS NULL OR used <= use_limit)", name="used"),
)

voucher_uses: Final = Table(
    "voucher_uses",
    metadata,
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), primary_key=True),
    Column("code", Text, ForeignKey("vouchers.code"), nullable=False),
    Column("customer", Text, nullable=False),
    Column("discount", BigInteger, nullable=False),
    Column("used_at", DateTime(timezone=True), nullable=False),
    Index(None, "code", "customer"),
)
