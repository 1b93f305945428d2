"""What becomes of a visitor's data when the visitor logs in and turns out to have data already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import orjson

from .pending import JSON

Merge = Callable[[Mapping[str, JSON]], Mapping[str, JSON]]
"""Makes the fields of the user's session from the visitor's; called once, by the login that wins."""

How = Literal["sum", "max", "guest", "keep"]


def merged(
    guest: Mapping[str, int], kept: Mapping[str, int], how: How, *, high: int | None = None
) -> dict[str, int]:
    """The quantities of both, each at most `high`.

    Where both have a line: `sum` adds them, `max` takes the larger, `guest` the visitor's, `keep` the kept
    one's. `guest` and `keep` still take the lines that only the other side has.
    """
    lines = {**kept, **guest} if how == "guest" else {**guest, **kept}
    for name in guest.keys() & kept.keys():
        if how == "sum":
            lines[name] = guest[name] + kept[name]
        elif how == "max":
            lines[name] = max(guest[name], kept[name])
    return {name: n if high is None else min(n, high) for name, n in lines.items()}


def remade(fields: Mapping[str, bytes], merge: Merge) -> dict[str, bytes]:
    """The fields as the merge wants them, in their stored form."""
    made = merge({name: orjson.loads(value) for name, value in fields.items()})
    return {name: orjson.dumps(value) for name, value in made.items()}
