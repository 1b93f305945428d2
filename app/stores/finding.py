"""What a search finds: of three kinds of match, the better ones alone where there are enough of them.

A word that stands in most descriptions, or the first letter of most names, would have every product read and
ranked, and the last pages of such a list help nobody. So each kind is gathered only where the better ones are few:

1. products whose name begins as it was typed, and those with every word, whole, in name or labels,
2. products with every word in name or labels, the last one as a beginning,
3. products with every word anywhere, in the description too.

Each kind contains the better ones, so whoever is found exactly is always found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, FromClause, and_, cast, exists, func, not_, or_, select, union_all
from sqlalchemy.dialects.postgresql import TSQUERY

from app.shop.vietnamese import folded
from app.stores.search import query_of
from app.stores.tables import BEGINNING_MOST, beginning, products

ENOUGH: Final = 1_000
"""Matches: more than forty pages, of which hardly anybody turns three."""

_LAST: Final = "\U0010ffff"
"""After every other character, byte by byte."""


def found(
    text: str, columns: Sequence[ColumnElement[Any]], shown: Sequence[ColumnElement[bool]]
) -> FromClause:
    """Those columns of the products that the text finds among those that are `shown`, each gathered once."""
    asked = asked_of(text)
    labelled = products.c.head_words.bool_op("@@")(asked)
    # The function behind @@, which no index answers: the range is by far the shorter way.
    begins = and_(_begins(text), func.ts_match_vq(products.c.head_words, asked))
    exact = or_(begins, products.c.head_words.bool_op("@@")(_whole(text)))
    first = select(*columns).where(*shown, exact).cte("exact")
    second = select(*columns).where(not_(_enough(first)), *shown, labelled).cte("labelled")
    few = not_(_enough(first)), not_(_enough(second))
    third = select(*columns).where(*few, *shown, products.c.words.bool_op("@@")(asked)).cte("anywhere")
    return union_all(
        select(first).where(_enough(first)), select(second).where(_enough(second)), select(third)
    ).subquery("found")


def asked_of(text: str) -> ColumnElement[Any]:
    """Every word, the last one as a beginning."""
    return cast(query_of(text), TSQUERY)


def _whole(text: str) -> ColumnElement[Any]:
    return cast(query_of(text, last_is_whole=True), TSQUERY)


def _begins(text: str) -> ColumnElement[bool]:
    """A range, which an index answers whatever is typed; a pattern would need its signs escaped."""
    begin = folded(text)[:BEGINNING_MOST]
    return and_(beginning >= begin, beginning < begin + _LAST)


def _enough(gathered: CTE) -> ColumnElement[bool]:
    """Whether there are so many; no more are counted."""
    return exists(select(gathered.c.id).offset(ENOUGH - 1))
