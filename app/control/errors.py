"""What can go wrong with a wish.

ControlError
├── ControlUnavailable     Redis cannot answer in time; nothing is known to have changed
├── UnknownBreaker         no running replica has a breaker of that name
└── UnusableWish           a state, a time or a reason that cannot be meant
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ControlError(Exception):
    """A wish was not taken, and the text says why in one sentence."""


class ControlUnavailable(ControlError):
    """Redis cannot answer in time; replicas go on with what they knew."""


class UnknownBreaker(ControlError):
    """No running replica has a breaker of that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        if not known:
            hint = "no replica has told of any; is one running?"
        elif near:
            hint = f"did you mean {near[0]}?"
        else:
            hint = f"there are: {', '.join(known)}"
        super().__init__(f"no breaker is called {name[:80]!r}; {hint}")
        self.name = name


class UnusableWish(ControlError):
    """A state, a time or a reason that cannot be meant."""
