"""The tables of accounts' carts; a test holds them and the migrations together."""

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
    Table,
    Text,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.stores.tables import metadata

_Account: Final = Uuid(as_uuid=False)

carts: Final = Table(
    "carts",
    metadata,
    Column("account_id", _Account, ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("cart_id", Text, nullable=False),  # one filling of the cart; becomes the order's
    Column("settled_id", Text),  # the filling that was ordered last
    Column("version", BigInteger, nullable=False),  # one more with every write, so that copies know their age
)

cart_lines: Final = Table(
    "cart_lines",
    metadata,
    Column("account_id", _Account, ForeignKey("carts.account_id", ondelete="CASCADE"), primary_key=True),
    # No foreign key to the variant: what is not sold any more stays in carts, and is told there.
    Column("sku", Text, primary_key=True),
    Column("quantity", Integer, nullable=False),
    CheckConstraint("quantity > 0", name="quantity"),
)

cart_adds: Final = Table(
    "cart_adds",
    metadata,
    Column("account_id", _Account, ForeignKey("carts.account_id", ondelete="CASCADE"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("sku", Text, nullable=False),
    Column("quantity", Integer, nullable=False),
    Column("added_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "account_id", "added_at"),
)

cart_merges: Final = Table(
    "cart_merges",
    metadata,
    Column("cart_id", Text, primary_key=True),  # of the guest's cart that came in
    Column("account_id", _Account, ForeignKey("carts.account_id", ondelete="CASCADE"), nullable=False),
    Column("left_out", JSONB, nullable=False),  # units by SKU that found no room
    Column("merged_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "account_id", "merged_at"),
)
