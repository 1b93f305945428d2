"""Search words as PostgreSQL keeps and asks them, made here: no dictionary, no parser, nothing to escape twice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, islice
from typing import Final

from app.shop.vietnamese import collation_key, folded, words

SEARCH_MOST: Final = 200
"""Characters of a search that are looked at; nobody types more."""

WORDS_MOST: Final = 12
"""Words of a search that are looked for; each is a walk through the index."""

_LABEL_WORDS_MOST: Final = 200
_DESCRIPTION_WORDS_MOST: Final = 1_000
"""What a long description is about, it says in the beginning."""

_WORD_MOST: Final = 60
"""Characters of a word; what is longer is a mistake, and is found by its beginning."""


def words_of(*, name: str, labels: Iterable[str], description: str = "") -> str:
    """A `tsvector` literal: words of the name weigh most, then labels (category, brand, tags, SKUs)."""
    places = count(1)
    weighed = (
        ("A", words(name)),
        ("B", islice((word for label in labels for word in words(label)), _LABEL_WORDS_MOST)),
        ("D", words(description)[:_DESCRIPTION_WORDS_MOST]),
    )
    return " ".join(f"{_quoted(word)}:{next(places)}{weight}" for weight, found in weighed for word in found)


def findable(
    *, name: str, category: str, vendor: str, tags: Iterable[str], skus: Iterable[str], description: str
) -> dict[str, str]:
    """The columns that a product is found, ranked and sorted by."""
    skus = list(skus)
    labels = (category, vendor, *tags, *skus)
    return {
        # The name first, so that a match at the beginning is one of the name.
        "search": folded(" ".join((name, category, *skus))),
        "sort_key": collation_key(name),
        "words": words_of(name=name, labels=labels, description=description),
        "head_words": words_of(name=name, labels=labels),
    }


def query_of(text: str, *, last_is_whole: bool = False) -> str:
    """A `tsquery` literal: every word, the last one as a beginning unless it is told to be whole: it may still be typed.

    Empty when the text has nothing that can be looked for.
    """
    found = [_quoted(word) for word in words(text[:SEARCH_MOST])[:WORDS_MOST]]
    return " & ".join(found) + ("" if last_is_whole else ":*") if found else ""


def _quoted(word: str) -> str:
    return "'" + word[:_WORD_MOST].replace("\\", "\\\\").replace("'", "''") + "'"
