"""The tables of orders, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.stores.tables import metadata

orders: Final = Table(
    "orders",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("sequence", BigInteger, Identity(), nullable=False, unique=True),
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id")),  # NULL: somebody without one
    Column("guest", Text),  # then, an opaque name of whoever may see it
    Column("contact_email", Text),
    Column("contact_phone", Text),
    # One cart becomes one order; an order that came to nothing gives its cart back.
    Column("cart_id", Text, unique=True),
    Column("status", Text, nullable=False),
    Column("payment", Text, nullable=False),
    Column("shipping", JSONB, nullable=False),
    Column("subtotal", BigInteger),  # NULL in orders of versions that knew the total alone
    Column("shipping_fee", BigInteger, nullable=False, server_default=text("0")),
    Column("discount", BigInteger, nullable=False, server_default=text("0")),
    Column("vat_included", BigInteger, nullable=False, server_default=text("0")),
    Column("total", BigInteger, nullable=False),
    Column("placed_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("total = subtotal + shipping_fee - discount", name="total"),
    CheckConstraint(
        "shipping_fee >= 0 AND discount >= 0 AND vat_included BETWEEN 0 AND total", name="amounts"
    ),
    CheckConstraint(
        "status IN ('placing', 'awaiting_payment', 'confirmed', 'placed', 'packed', 'shipped', 'delivered',"
        " 'cancelled', 'refunded', 'failed')",
        name="status",
    ),
    Index(None, "account_id", "sequence"),
    Index(None, "status", "sequence"),
    Index(None, "placed_at"),
)

order_lines: Final = Table(
    "order_lines",
    metadata,
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), primary_key=True),
    Column("position", SmallInteger, primary_key=True),
    # No foreign key to the variant: what was sold outlives what is sold.
    Column("sku", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("quantity", Integer, nullable=False),
    Column("unit_price", BigInteger, nullable=False),
    # Whether the units came out of a stock that is counted, and go back there.
    Column("counted", Boolean, nullable=False, server_default=text("true")),
    CheckConstraint("quantity > 0", name="quantity"),
)

order_keys: Final = Table(
    "order_keys",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id")),
    Column("guest", Text),
    Column("key", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), nullable=False, index=True),
    # What the key was answered: the status of then. NULL: nobody knows yet. The version before knew one alone.
    Column("answered", Text, server_default=text("'confirmed'")),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("account_id", "key"),
    UniqueConstraint("guest", "key"),
    CheckConstraint("num_nonnulls(account_id, guest) = 1", name="owner"),
)

order_events: Final = Table(
    "order_events",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), nullable=False, index=True),
    Column("happened_at", DateTime(timezone=True), nullable=False),
    Column("actor", Text, nullable=False),  # who: an account's id, or the shop itself
    Column("before", Text),
    Column("after", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=text("''")),
)

reservations: Final = Table(
    "reservations",
    metadata,
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), primary_key=True),
    # No foreign key to the variant: it may be deleted meanwhile.
    Column("sku", Text, primary_key=True),
    Column("quantity", Integer, nullable=False),  # out of the variant's stock already
    Column("expires_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("quantity > 0", name="quantity"),
    Index(None, "sku"),
)

order_payments: Final = Table(
    "order_payments",
    metadata,
    Column("order_id", Uuid(as_uuid=False), ForeignKey("orders.id"), primary_key=True),
    Column("reference", Text, nullable=False, unique=True),
    Column("amount", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("wanted", Text, nullable=False),
    Column("payment_id", Text),
    Column("redirect_url", Text),
    Column("declined_as", Text),
    Column("expires_at", DateTime(timezone=True), nullable=False),  # of its reservation
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("due_at", DateTime(timezone=True)),  # NULL: nothing is left to do
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("amount > 0", name="amount"),
    CheckConstraint(
        "status IN ('asked', 'requires_action', 'authorised', 'declined', 'captured', 'released', 'refunded')",
        name="status",
    ),
    CheckConstraint("wanted IN ('held', 'taken', 'back')", name="wanted"),
    Index("order_payments_due_idx", "due_at", postgresql_where=text("due_at IS NOT NULL")),
)
