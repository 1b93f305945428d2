"""What browsing needs (expand): pictures, options, safe HTML, search words, and what a list shows of a product."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_REFRESH = """
CREATE FUNCTION refresh_shelf(changed bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- The lock comes first and the sums after it, in a snapshot of their own: of two orders that sell the
    -- last units of two variants at once, the second one sees both gone.
    PERFORM FROM products WHERE id = ANY (changed) ORDER BY id FOR NO KEY UPDATE;
    UPDATE products SET price_from = shelf.price_from, in_stock = shelf.in_stock
    FROM (
        SELECT product.id, min(price) AS price_from, coalesce(bool_or(stock > 0 OR sells_past_zero), false) AS in_stock
        FROM unnest(changed) AS product (id) LEFT JOIN variants ON product_id = product.id
        GROUP BY product.id
    ) AS shelf
    WHERE products.id = shelf.id
      AND (products.price_from, products.in_stock) IS DISTINCT FROM (shelf.price_from, shelf.in_stock);
END $$
"""

# An order that leaves something of each variant changes nothing a list shows, and locks no product.
_CHANGED = """
CREATE FUNCTION refresh_shelves() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(DISTINCT product_id) INTO changed FROM now_there;
    ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(DISTINCT product_id) INTO changed FROM was_there;
    ELSE
        SELECT array_agg(DISTINCT product.id) INTO changed
        FROM was_there AS past JOIN now_there AS present USING (sku)
        CROSS JOIN LATERAL (VALUES (past.product_id), (present.product_id)) AS product (id)
        WHERE (past.price, past.product_id, past.stock > 0 OR past.sells_past_zero)
           IS DISTINCT FROM (present.price, present.product_id, present.stock > 0 OR present.sells_past_zero);
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM refresh_shelf(changed);
    END IF;
    RETURN NULL;
END $$
"""

_TRIGGERS = {
    "INSERT": "NEW TABLE AS now_there",
    "DELETE": "OLD TABLE AS was_there",
    "UPDATE": "OLD TABLE AS was_there NEW TABLE AS now_there",
}


def upgrade() -> None:
    _columns()
    _widths()
    _pictures()
    _shelves()
    _indexes()


def downgrade() -> None:
    op.execute("ALTER TABLE products RESET (toast_tuple_target)")
    for event in _TRIGGERS:
        op.execute(f"DROP TRIGGER variants_{event.lower()} ON variants")
    op.execute("DROP FUNCTION refresh_shelves")
    op.execute("DROP FUNCTION refresh_shelf")
    op.drop_table("product_pictures")
    op.drop_column("variants", "sells_past_zero")
    for column in (
        "body_html", "vendor", "tags", "option_names", "hidden_as", "sort_key", "words", "head_words", "price_from", "in_stock"
    ):  # fmt: skip
        op.drop_column("products", column)


def _columns() -> None:
    for column in (
        sa.Column("body_html", sa.Text, nullable=False, server_default=sa.text("''")),
        sa.Column("vendor", sa.Text, nullable=False, server_default=sa.text("''")),
        sa.Column("tags", ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("option_names", ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("hidden_as", sa.Text),
        sa.Column("sort_key", sa.Text(collation="C"), nullable=False, server_default=sa.text("''")),
        sa.Column("words", TSVECTOR, nullable=False, server_default=sa.text("''")),
        sa.Column("head_words", TSVECTOR, nullable=False, server_default=sa.text("''")),
        sa.Column("price_from", sa.BigInteger),
        sa.Column("in_stock", sa.Boolean, nullable=False, server_default=sa.text("false")),
    ):
        op.add_column("products", column)
    op.add_column(
        "variants", sa.Column("sells_past_zero", sa.Boolean, nullable=False, server_default=sa.text("false"))
    )
    # Close to what the next import writes: the old column holds the same words without case and marks.
    op.execute(
        "UPDATE products SET sort_key = search, words = setweight(to_tsvector('simple', search), 'A'),"
        " head_words = setweight(to_tsvector('simple', search), 'A')"
    )
    op.execute(
        "UPDATE products SET option_names = found.names FROM ("
        "  SELECT product_id, array_agg(DISTINCT option) AS names"
        "  FROM variants, jsonb_object_keys(options) AS option GROUP BY product_id"
        ") AS found WHERE found.product_id = products.id"
    )


def _widths() -> None:
    """Keep long rows narrow: a search that finds a third of all products reads a third of the table's rows.

    Once a description makes a row longer than 2 KB, what only the product's own page shows moves out of it,
    and what a list sorts and ranks by stays.
    """
    for column in ("slug", "name", "search", "sort_key", "head_words"):
        op.execute(f"ALTER TABLE products ALTER COLUMN {column} SET STORAGE MAIN")
    op.execute("ALTER TABLE products SET (toast_tuple_target = 512)")


def _pictures() -> None:
    op.create_table(
        "product_pictures",
        sa.Column("product_id", sa.BigInteger, sa.ForeignKey("products.id"), primary_key=True),
        sa.Column("position", sa.SmallInteger, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("alt", sa.Text, nullable=False),
    )


def _shelves() -> None:
    """Keep what a list shows of a product in step with its variants, whichever release changes them."""
    op.execute(_REFRESH)
    op.execute(_CHANGED)
    for event, tables in _TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER variants_{event.lower()} AFTER {event} ON variants REFERENCING {tables} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refresh_shelves()"
        )
    op.execute("SELECT refresh_shelf(array_agg(id)) FROM products HAVING count(*) > 0")


def _indexes() -> None:
    op.create_index("products_words_idx", "products", ["words"], postgresql_using="gin")
    shown = sa.text("visible")
    for columns in (["sort_key"], ["price_from"], ["category_id", "sort_key"], ["category_id", "price_from"]):
        name = f"products_{'_'.join(columns)}_shown_idx"
        op.create_index(name, "products", [*columns, "id"], postgresql_where=shown)
