"""The recommendations' tables, in a schema of their own, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Integer, MetaData, SmallInteger, Table, Text

SCHEMA: Final = "recommendations"

metadata: Final = MetaData(schema=SCHEMA, naming_convention={"pk": "%(table_name)s_pkey"})

pairs: Final = Table(
    "pairs",
    metadata,
    Column("product", Text, primary_key=True),
    Column("place", SmallInteger, primary_key=True, autoincrement=False),
    Column("other", Text, nullable=False),
    Column("customers", Integer, nullable=False),  # who bought both
)

bestsellers: Final = Table(
    "bestsellers",
    metadata,
    Column("category", Text, primary_key=True),
    Column("place", SmallInteger, primary_key=True, autoincrement=False),
    Column("product", Text, nullable=False),
    Column("sold", BigInteger, nullable=False),  # units
)

shelves: Final = Table(
    "shelves",
    metadata,
    Column("product", Text, primary_key=True),
    Column("category", Text, nullable=False),
)

refreshes: Final = Table(
    "refreshes",
    metadata,
    Column("at", DateTime(timezone=True), primary_key=True),
)
"""One row: when the others were computed."""
