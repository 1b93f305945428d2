"""A pooler between the shop and PostgreSQL that lends out a connection for one transaction at a time.

Such is PgBouncer with ``pool_mode = transaction``. Whatever lives longer than a transaction would be another
client's: prepared statements, settings, locks of a session. The URL says so: ``…/chopho?pooler=transaction``.
"""

from __future__ import annotations

from sqlalchemy.engine import URL, make_url

from app.stores.pooler_words import MODE, WORD


def is_pooled(url: str) -> bool:
    """Whether a pooler lends each transaction its connection."""
    return make_url(url).query.get(WORD) == MODE


def driver_url(url: str) -> URL:
    """The URL as the driver knows it."""
    return make_url(url).difference_update_query([WORD])
