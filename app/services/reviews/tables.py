"""The reviews' table, in a schema of their own, as the newest migration leaves it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    Index,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)

SCHEMA: Final = "reviews"

metadata: Final = MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    },
)

reviews: Final = Table(
    "reviews",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("product", Text, nullable=False),  # its slug; the catalogue is not ours
    Column("author", Text, nullable=False),  # the account, never told
    Column("author_name", Text, nullable=False),
    Column("rating", SmallInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("written_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("edited_at", DateTime(timezone=True)),
    Column("judged_by", Text),
    Column("judged_at", DateTime(timezone=True)),
    Column("withdrawn_at", DateTime(timezone=True)),  # of it, only that it was hidden is left
    UniqueConstraint("product", "author"),
    CheckConstraint("rating BETWEEN 1 AND 5", name="rating"),
    CheckConstraint("status IN ('pending', 'shown', 'hidden')", name="status"),
    Index(
        "reviews_shown_idx",
        "product",
        text("written_at DESC"),
        "id",
        postgresql_include=["rating"],
        postgresql_where=text("status = 'shown'"),
    ),
    Index("reviews_status_idx", "status", "written_at", "id"),
)
