"""The shop's tables, as the newest migration leaves them; a test holds the two together."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

metadata: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

accounts: Final = Table(
    "accounts",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("email", Text, nullable=False),
    Column("email_key", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("language", Text, nullable=False, server_default=text("'vi'")),  # of the mail they get
    Column("phone", Text, nullable=False, server_default=text("''")),
    Column("locked_at", DateTime(timezone=True)),  # nobody comes in since then
    Column("erased_at", DateTime(timezone=True)),  # nobody's any more; its orders stay in the books
    Column("author_forgotten_at", DateTime(timezone=True)),  # its name is off its reviews since then
    CheckConstraint("role IN ('customer', 'owner', 'operator')", name="role"),
    Index(
        "accounts_authors_idx",
        "erased_at",
        postgresql_where=text("erased_at IS NOT NULL AND author_forgotten_at IS NULL"),
    ),
)

categories: Final = Table(
    "categories",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("slug", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
)

BEGINNING_MOST: Final = 60
"""Characters of `search` that a beginning is looked up by."""

beginning: Final[ColumnElement[str]] = literal_column(f'left(search, {BEGINNING_MOST}) COLLATE "C"', Text)
"""As its index has it, without a parameter that a prepared statement would not know."""

products: Final = Table(
    "products",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("slug", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("category_id", BigInteger, ForeignKey("categories.id"), nullable=False, index=True),
    Column("visible", Boolean, nullable=False, server_default=text("true")),
    # What searches compare, without case and marks: `app.stores.search.findable` of the product.
    Column("search", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column(
        "body_html", Text, nullable=False, server_default=text("''")
    ),  # sanitised; `description` is its words
    Column("vendor", Text, nullable=False, server_default=text("''")),
    Column("tags", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("option_names", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("hidden_as", Text),  # draft or archived, where it is not visible for such a reason
    # `app.shop.vietnamese.collation_key` of the name; sorted byte by byte.
    Column("sort_key", Text(collation="C"), nullable=False, server_default=text("''")),
    Column("words", TSVECTOR, nullable=False, server_default=text("''")),  # `app.stores.search.words_of`
    # The same without the description: what a match is ranked by, small enough to be read by the ten thousand.
    Column("head_words", TSVECTOR, nullable=False, server_default=text("''")),
    # Of its variants, kept by triggers on them.
    Column("price_from", BigInteger),
    Column("in_stock", Boolean, nullable=False, server_default=text("false")),
    Index("products_words_idx", "words", postgresql_using="gin"),
    Index("products_head_words_idx", "head_words", postgresql_using="gin"),
    # Byte by byte too, which PostgreSQL does not count to the expression: `beginning` is what it answers.
    Index("products_beginning_idx", text(f"left(search, {BEGINNING_MOST})")),
    *(
        Index(f"products_{'_'.join(columns)}_shown_idx", *columns, "id", postgresql_where=text("visible"))
        for columns in (
            ("sort_key",),
            ("price_from",),
            ("category_id", "sort_key"),
            ("category_id", "price_from"),
        )
    ),
)

product_pictures: Final = Table(
    "product_pictures",
    metadata,
    Column("product_id", BigInteger, ForeignKey("products.id"), primary_key=True),
    Column("position", SmallInteger, primary_key=True),
    Column("source", Text, nullable=False),
    Column("alt", Text, nullable=False),
)

variants: Final = Table(
    "variants",
    metadata,
    Column("sku", Text, primary_key=True),
    Column("product_id", BigInteger, ForeignKey("products.id"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),  # of the variant alone; empty where there is only one
    Column("price", BigInteger, nullable=False),
    Column("stock", Integer, nullable=False),
    Column("options", JSONB, nullable=False, server_default=text("'{}'")),
    Column("sells_past_zero", Boolean, nullable=False, server_default=text("false")),  # nobody counts it
    Column("grams", Integer, nullable=False, server_default=text("500")),
    # The SKU is the name of a field in the session; Redis keeps a hash compact up to 64 bytes of name.
    CheckConstraint("octet_length(sku) BETWEEN 1 AND 64", name="sku"),
    CheckConstraint("price BETWEEN 0 AND 1000000000000", name="price"),
    CheckConstraint("stock >= 0", name="stock"),
    CheckConstraint("grams BETWEEN 0 AND 1000000", name="grams"),
)

revocations: Final = Table(
    "revocations",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("account_id", Uuid(as_uuid=False), ForeignKey("accounts.id"), nullable=False),
    Column("epoch", BigInteger),  # NULL: promised, and not seen to be done
    Column("asked_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "asked_at"),
    Index("revocations_unsettled_idx", "asked_at", postgresql_where=text("epoch IS NULL")),
)

ended_sessions: Final = Table(
    "ended_sessions",
    metadata,
    Column("handle", Text, primary_key=True),
    Column("ended_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "ended_at"),
)
