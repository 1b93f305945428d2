"""The tables beside an account: where its parcels go, and what is proved by a link in a mail."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Table,
    Text,
    Uuid,
    func,
    text,
)

from app.stores.tables import metadata

addresses: Final = Table(
    "addresses",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("phone", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("province", Text, nullable=False, server_default=text("''")),
    Column("is_default", Boolean, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("addresses_default_idx", "account_id", unique=True, postgresql_where=text("is_default")),
)

password_resets: Final = Table(
    "password_resets",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id"), nullable=False, index=True),
    Column("token_digest", Text, nullable=False, unique=True),
    # Of the password's hash when the token was made: a change of the password ends the token.
    Column("password_mark", Text, nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False, index=True),
)

email_changes: Final = Table(
    "email_changes",
    metadata,
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id"), primary_key=True),
    Column("email", Text, nullable=False),
    Column("email_key", Text, nullable=False),
    Column("token_digest", Text, unique=True),  # NULL until the mail is written
    Column("expires_at", DateTime(timezone=True), nullable=False),
)
