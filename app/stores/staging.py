"""The SQL that turns staged products into the catalogue; each step changes only what differs."""

from __future__ import annotations

from typing import Final

TURN: Final = "SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(8387794211240866)"
"""One import at a time: two would meet row by row. How long one may take, its caller bounds as a whole."""

TABLES: Final = """
CREATE TEMPORARY TABLE staged (
    line integer, slug text, name text, description text, body_html text, category_slug text, category text,
    vendor text, tags text[], option_names text[], visible boolean, hidden_as text, search text,
    sort_key text COLLATE "C", words tsvector, head_words tsvector, variants jsonb, pictures jsonb
) ON COMMIT DROP;
CREATE TEMPORARY TABLE touched (product_id bigint, added boolean) ON COMMIT DROP
"""

COLUMNS: Final = (
    "line, slug, name, description, body_html, category_slug, category, vendor, tags, option_names, visible, "
    "hidden_as, search, sort_key, words, head_words, variants, pictures"
)

COPY: Final = f"COPY staged ({COLUMNS}) FROM STDIN"

ONLY_NEW: Final = "DELETE FROM staged USING products WHERE products.slug = staged.slug"

PREPARE: Final = """
CREATE TEMPORARY TABLE wanted ON COMMIT DROP AS
SELECT staged.slug, variant.*
FROM staged, jsonb_to_recordset(staged.variants) AS variant (
    line integer, sku text, position integer, name text, price bigint, stock integer, options jsonb,
    sells_past_zero boolean, grams integer
);
CREATE UNIQUE INDEX ON staged (slug);
CREATE UNIQUE INDEX ON wanted (sku);
ANALYZE staged;
ANALYZE wanted
"""

TAKEN: Final = """
SELECT wanted.line, wanted.sku, products.slug
FROM wanted JOIN variants USING (sku) JOIN products ON products.id = variants.product_id
WHERE products.slug <> wanted.slug AND NOT EXISTS (SELECT FROM staged WHERE staged.slug = products.slug)
ORDER BY wanted.line LIMIT 100
"""

CATEGORIES: Final = """
INSERT INTO categories AS kept (slug, name)
SELECT DISTINCT ON (category_slug) category_slug, category FROM staged ORDER BY category_slug, line
ON CONFLICT (slug) DO UPDATE SET name = excluded.name WHERE kept.name <> excluded.name
"""

_OF_PRODUCT: Final = (
    "name", "description", "body_html", "category_id", "vendor", "tags", "option_names", "visible", "hidden_as",
    "search", "sort_key", "words", "head_words",
)  # fmt: skip


def _replaced(columns: tuple[str, ...]) -> str:
    """What an upsert sets where any of the columns differs."""
    return (
        f"SET {', '.join(f'{name} = excluded.{name}' for name in columns)} "
        f"WHERE ({', '.join(f'kept.{name}' for name in columns)}) "
        f"IS DISTINCT FROM ({', '.join(f'excluded.{name}' for name in columns)})"
    )


PRODUCTS: Final = f"""
WITH written AS (
    INSERT INTO products AS kept (slug, {", ".join(_OF_PRODUCT)})
    SELECT staged.slug, {", ".join("categories.id" if name == "category_id" else f"staged.{name}" for name in _OF_PRODUCT)}
    FROM staged JOIN categories ON categories.slug = staged.category_slug
    ORDER BY staged.line
    ON CONFLICT (slug) DO UPDATE {_replaced(_OF_PRODUCT)}
    RETURNING id, xmax = 0 AS added
)
INSERT INTO touched SELECT id, added FROM written
"""  # noqa: S608 -- names of columns, all of this file

_OF_VARIANT: Final = (
    "product_id",
    "position",
    "name",
    "price",
    "stock",
    "options",
    "sells_past_zero",
    "grams",
)

LOCK_VARIANTS: Final = """
SELECT count(*) FROM (
    SELECT FROM variants AS kept
    JOIN products ON products.id = kept.product_id
    LEFT JOIN wanted USING (sku)
    WHERE (products.slug IN (SELECT slug FROM staged) OR wanted.sku IS NOT NULL)
      AND (kept.position, kept.name, kept.price, kept.stock, kept.options, kept.sells_past_zero, kept.grams, products.slug)
          IS DISTINCT FROM
          (wanted.position, wanted.name, wanted.price, wanted.stock, wanted.options, wanted.sells_past_zero,
           wanted.grams, wanted.slug)
    ORDER BY kept.sku
    FOR UPDATE OF kept
) AS locked
"""
"""In the order of their SKUs, as orders lock them, so that neither waits for the other in a circle."""

VARIANTS: Final = f"""
WITH gone AS (
    DELETE FROM variants USING products
    WHERE products.id = variants.product_id AND products.slug IN (SELECT slug FROM staged)
      AND NOT EXISTS (SELECT FROM wanted WHERE wanted.sku = variants.sku)
    RETURNING variants.product_id
), written AS (
    INSERT INTO variants AS kept (sku, {", ".join(_OF_VARIANT)})
    SELECT wanted.sku, products.id, {", ".join(f"wanted.{name}" for name in _OF_VARIANT[1:])}
    FROM wanted JOIN products USING (slug)
    ORDER BY wanted.sku
    ON CONFLICT (sku) DO UPDATE {_replaced(_OF_VARIANT)}
    RETURNING product_id
)
INSERT INTO touched SELECT product_id, false FROM gone UNION ALL SELECT product_id, false FROM written
"""  # noqa: S608 -- names of columns, all of this file

PICTURES: Final = f"""
WITH shown AS (
    SELECT products.id AS product_id, picture.position::smallint, picture.source, picture.alt
    FROM staged JOIN products USING (slug), jsonb_to_recordset(staged.pictures) AS picture (
        position integer, source text, alt text
    )
), gone AS (
    DELETE FROM product_pictures AS kept USING products
    WHERE products.id = kept.product_id AND products.slug IN (SELECT slug FROM staged)
      AND NOT EXISTS (
          SELECT FROM shown WHERE shown.product_id = kept.product_id AND shown.position = kept.position
      )
    RETURNING kept.product_id
), written AS (
    INSERT INTO product_pictures AS kept (product_id, position, source, alt)
    SELECT product_id, position, source, alt FROM shown
    ON CONFLICT (product_id, position) DO UPDATE {_replaced(("source", "alt"))}
    RETURNING product_id
)
INSERT INTO touched SELECT product_id, false FROM gone UNION ALL SELECT product_id, false FROM written
"""  # noqa: S608 -- names of columns, all of this file

COUNT: Final = """
SELECT (SELECT count(*) FROM staged) AS products,
       (SELECT count(*) FROM touched WHERE added) AS added,
       (SELECT count(DISTINCT product_id) FROM touched) AS touched
"""

UPKEEP: Final = "VACUUM (ANALYZE) products, variants, product_pictures"
"""So that the next list is planned for what is there now, and counts it in an index alone."""
